import pino from 'pino'

/** A Log takes constant lower-case messages with data as fields: warn means odd but nothing lost, error means a person is needed. */
export type Log = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error'> & { child(fields: object): Log }

/** openLog writes JSON lines to standard error; header values that carry credentials are masked wherever they appear. */
export function openLog(level: string): Log {
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
    pino.destination({ dest: 2, sync: true }),
  )
}
