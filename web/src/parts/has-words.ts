/** hasWords tells whether every word that was typed is in a text, whatever the case. */
export function hasWords(text: string, typed: string): boolean {
  const low = text.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word))
}
