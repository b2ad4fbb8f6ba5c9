/** True when the text contains every typed word, ignoring case. */
export function hasWords(text: string, words: string): boolean {
  const low = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word))
}
