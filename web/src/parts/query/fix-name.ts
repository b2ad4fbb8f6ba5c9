/** The text that a fix puts in place, as its button names it. */
export const fixName = (text: string): string => (text === '' ? '(nothing)' : text.trim() || '(a space)')
