import type { severities } from '../layout/table.ts'

export type Severity = keyof typeof severities

/** Keys in which senders put the severity, best first. */
export const levelKeys: readonly string[] = ['level', 'severity', 'log.level', 'levelname', 'lvl', 'status']
/** Keys with the numeric level of a Node logger, valid only next to its two companion keys. */
const numericLevelKeys: readonly string[] = ['level']
export const numericLevelCompanions: readonly string[] = ['time', 'msg']
export const httpStatusKeys: readonly string[] = [
  'status',
  'status_code',
  'statusCode',
  'http.status_code',
  'http.response.status_code',
  'http.status',
  'res.statusCode',
]
export const exceptionKeys: readonly string[] = [
  'exception',
  'exception.type',
  'exception.message',
  'exception.stacktrace',
  'error.stack',
  'error.stack_trace',
  'err.stack',
  'stack_trace',
  'stacktrace',
  'stack',
  'exc_info',
]
/** Every key that severityOf may read. */
export const severityKeys: ReadonlySet<string> = new Set([...levelKeys, ...numericLevelCompanions, ...httpStatusKeys, ...exceptionKeys])

const words: Record<Exclude<Severity, 'none'>, string> = {
  trace: 'trace verbose finest finer fine all',
  debug: 'debug config',
  info: 'info information informational notice default log success',
  warn: 'warn warning',
  error: 'err error severe',
  fatal: 'fatal crit critical alert emerg emergency panic dpanic',
}
const byWord = new Map(Object.entries(words).flatMap(([severity, list]) => list.split(' ').map((word) => [word, severity as Severity])))
const WORD_CHARS_MAX = 16

export function severityOfWord(text: string): Severity | undefined {
  return text.length > WORD_CHARS_MAX ? undefined : byWord.get(text.trim().toLowerCase())
}

/** Reads the severity from the values of an event; `none` when no value gives one. */
export function severityOf(leaf: (path: string) => string | undefined): Severity {
  return fromLevel(leaf) ?? fromHttpStatus(leaf) ?? (exceptionKeys.some((key) => leaf(key) !== undefined) ? 'error' : 'none')
}

function fromLevel(leaf: (path: string) => string | undefined): Severity | undefined {
  for (const key of levelKeys) {
    const text = leaf(key)
    if (text === undefined) continue
    const severity = severityOfWord(text)
    if (severity) return severity
    if (!numericLevelKeys.includes(key) || !numericLevelCompanions.every((companion) => leaf(companion) !== undefined)) continue
    const numbered = severityOfNumber(text)
    if (numbered) return numbered
  }
  return undefined
}

const byNumber: readonly Severity[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** Reads the levels 10 to 60 that Node loggers write. */
const severityOfNumber = (text: string): Severity | undefined => (/^[1-6]0$/.test(text) ? byNumber[Number(text) / 10 - 1] : undefined)

function fromHttpStatus(leaf: (path: string) => string | undefined): Severity | undefined {
  for (const key of httpStatusKeys) {
    const text = leaf(key)
    if (text === undefined || !/^[1-5]\d\d$/.test(text)) continue
    return text.startsWith('5') ? 'error' : text.startsWith('4') ? 'warn' : 'info'
  }
  return undefined
}
