/** Shortens a text to at most `charsMax` characters. It splits no character: half of a surrogate pair is refused by strict receivers. */
export const shorten = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`
