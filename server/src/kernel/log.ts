import pino from 'pino'
import { LogLimit } from './log-limit.ts'

/** A Log takes constant lower-case messages with data as fields: warn means odd but nothing lost, error means a person is needed. */
export type Log = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'> & { child(fields: object): Log }

/** LINES_PER_WINDOW of one message are written in ten seconds, then their number. */
const LINES_PER_WINDOW = 20
const LIMITED = ['info', 'warn', 'error'] as const

/**
 * openLog writes JSON lines to standard error; header values that carry credentials are masked wherever they appear. A message that repeats too often
 * is counted instead, except at debug and trace, which somebody has asked for.
 */
export function openLog(level: string, destination: pino.DestinationStream = pino.destination({ dest: 2, sync: true })): Log {
  return limited(openPino(level, destination), new LogLimit({ burst: LINES_PER_WINDOW }))
}

/** limited shares one limit among a log and its children: messages are constant, so that a message is a kind. */
function limited(log: pino.Logger, limit: LogLimit): Log {
  const write =
    (name: (typeof LIMITED)[number]): pino.LogFn =>
    (...line: unknown[]) => {
      const at = log as unknown as Record<string, (...line: unknown[]) => void>
      const message = line.find((part) => typeof part === 'string') ?? ''
      const repeated = (skipped: number): void => log[name]({ repeated: skipped }, `${message} (repeated)`)
      if (!log.isLevelEnabled(name) || limit.note(`${name} ${message}`, repeated) === undefined) return
      at[name]?.(...line)
    }
  return {
    trace: log.trace.bind(log),
    debug: log.debug.bind(log),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => limited(log.child(fields), limit),
  }
}

function openPino(level: string, destination: pino.DestinationStream): pino.Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'authorization',
          'cookie',
          'password',
          'token',
          '*.authorization',
          '*.cookie',
          '*.password',
          '*.token',
          'headers["x-service-api-key"]',
        ],
        censor: '***',
      },
    },
    destination,
  )
}
