import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Logger } from '../../kernel/log.ts'

/** An EngineLog carries the engine's words into our log and keeps the last ones, which say why it did not start. */
export type EngineLog = { lastWords(): string; ended: Promise<void> }

const LINE = /^\d{4}\.\d\d\.\d\d [\d:.]+ \[ \d+ \] \{(?<query>[^}]*)\} <(?<level>\w+)> (?<source>.{0,200}?): (?<text>.*)$/
/** Lines of another form are warnings: they are last words, of the engine or of its program. */
const LEVELS: ReadonlyMap<string, 'error' | 'warn' | 'info' | 'debug'> = new Map(
  Object.entries<'error' | 'warn' | 'info' | 'debug'>({
    Fatal: 'error',
    Critical: 'error',
    Error: 'error',
    Warning: 'warn',
    Notice: 'info',
    Information: 'info',
    Debug: 'debug',
    Trace: 'debug',
  }),
)
const TEXT_MAX = 1_000
const LAST_WORDS_MAX = 4_000
/** NOISE is what says nothing to anybody: frames of a stack without symbols. */
const NOISE = /^(\d+\. .*|\s*|\s*\(version [^)]*\))$/
/** CHATTER is of no concern: a connection that broke is known to who held it, and pools of threads balance themselves. */
const CHATTER = /HTTP|^BackgroundSchedulePool/

/** SYNC_FAILED: the disk did not take what it was given. The engine logs it and goes on, also where it then acknowledges an insert. */
const SYNC_FAILED = /CANNOT_FSYNC/

/** forwardEngineLog reads one stream of the engine until it ends, and calls syncFailed when the engine could not sync a file or directory. */
export function forwardEngineLog(stream: Readable, log: Logger, syncFailed: () => void): EngineLog {
  let last = ''
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
  lines.on('line', (line) => {
    if (NOISE.test(line)) return
    last = `${last}${line}\n`.slice(-LAST_WORDS_MAX)
    forward(line, log)
    if (SYNC_FAILED.test(line)) syncFailed()
  })
  return { lastWords: () => last, ended: new Promise((done) => lines.once('close', done)) }
}

function forward(line: string, log: Logger): void {
  const { level = '', query, source = '', text = line } = LINE.exec(line)?.groups ?? {}
  if (NOISE.test(text)) return
  const ours = CHATTER.test(source) ? 'debug' : (LEVELS.get(level) ?? 'warn')
  log[ours]({ source: source || undefined, query_id: query || undefined, text: text.slice(0, TEXT_MAX) }, 'event engine says')
}
