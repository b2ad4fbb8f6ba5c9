const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'EXISTS', 'IS', 'IN', 'LIKE', 'ILIKE', 'BETWEEN', 'REGEXP', 'ESCAPE'])

/** Whether an upper-case word is a keyword. */
export const isKeyword = (word: string): boolean => KEYWORDS.has(word)
