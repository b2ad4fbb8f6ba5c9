import pino from 'pino'
import { LogLimit } from './log-limit.ts'

/** Messages are constant and lower-case, data goes into fields. Warn: odd, nothing lost. Error: data lost, or a person is needed. */
export type Logger = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'> & { child(fields: object): Logger }

/** Per message and window of ten seconds; further lines are counted. */
const LINES_PER_WINDOW = 20
const LIMITED = ['info', 'warn', 'error'] as const

/**
 * Writes JSON lines to standard error. Header values that carry credentials are masked wherever they appear. Messages that repeat too often are
 * counted instead, except at debug and trace.
 */
export function openLogger(level: string, destination: pino.DestinationStream = pino.destination({ dest: 2, sync: true })): Logger {
  return limited(openPino(level, destination), new LogLimit({ burst: LINES_PER_WINDOW }))
}

/** One limit serves a logger and its children. Messages are constant, so each message is a kind. */
function limited(log: pino.Logger, limit: LogLimit): Logger {
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
