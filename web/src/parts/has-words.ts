/** hasWords is true when the text contains every typed word, ignoring case. */
export function hasWords(text: string, typed: string): boolean {
  const low = text.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word))
}
