const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'EXISTS', 'IS', 'IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP', 'ESCAPE'])

/** isKeyword reports whether a word in capitals has a meaning of its own. */
export const isKeyword = (word: string): boolean => KEYWORDS.has(word)
