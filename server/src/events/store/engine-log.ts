import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Logger } from '../../kernel/log.ts'

/** Copies the engine's log into ours and keeps the last lines, which explain a failed start. */
export type EngineLog = { lastWords(): string; ended: Promise<void> }

const LINE = /^\d{4}\.\d\d\.\d\d [\d:.]+ \[ \d+ \] \{(?<query>[^}]*)\} <(?<level>\w+)> (?<source>.{0,200}?): (?<text>.*)$/
/** Lines in another form are warnings: final messages of the engine or of its program. */
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
/** Lines without information: stack frames without symbols. */
const NOISE = /^(\d+\. .*|\s*|\s*\(version [^)]*\))$/
/** Harmless messages: the client notices its broken connection itself, thread pools balance themselves, and a merge that was given up is released a moment later. */
const CHATTER = /HTTP|^BackgroundSchedulePool|^MergeMutateSelectedEntry/

/** A sync to disk failed. The engine logs it and continues, and may even acknowledge the insert. */
const SYNC_FAILED = /CANNOT_FSYNC/

/** Reads one stream of the engine until it ends. Calls syncFailed when the engine could not sync a file or directory. */
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
  log[ours]({ source: source || undefined, query_id: query || undefined, text: text.slice(0, TEXT_MAX) }, 'event engine log')
}
