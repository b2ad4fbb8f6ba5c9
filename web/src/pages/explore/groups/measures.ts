export const COUNT = 'count(*)'

/** The offered aggregate functions. */
export const measures = [COUNT, 'unique', 'sum', 'avg', 'min', 'max', 'median', 'p95', 'p99'] as const

/** percentiles are measured together, as several measures of one field. */
export const percentiles = ['median', 'p95', 'p99'] as const

/** Reads a list of measures; a comma in parentheses or quotes divides nothing. */
export const splitMeasures = (list: string): string[] =>
  (list.match(/(?:"(?:[^"]|"")*"|\((?:"(?:[^"]|"")*"|[^()"])*\)|[^,"(])+/g) ?? []).map((one) => one.trim()).filter((one) => one !== '')

/** True for measures whose groups may be stacked: the sum of counts is a count, the sum of averages is nothing. */
export const addUp = (measures: readonly string[]): boolean => measures.length === 1 && /^(count|sum|rate)\(/.test(measures[0] ?? '')
