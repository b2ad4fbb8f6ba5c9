import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { DeliveredEvent, DeliveryProgram, Placement } from './delivery-harness.ts'
import { LINES_PER_PART, textOf } from './delivery-line.ts'
import { dockerDrivers } from './docker-drivers.ts'
import { fileReaders } from './file-readers.ts'
import { programOf } from './installed-programs.ts'
import { journalUpload } from './journal-upload.ts'
import { nginx } from './nginx.ts'
import { syslogDaemons } from './syslog-daemons.ts'

const root = join(import.meta.dirname, '../..')

/** An application that logs through a handler. It writes as soon as it starts, and ends with its input. */
function application(name: string, file: string, executable: string | undefined, args: readonly string[]): DeliveryProgram {
  return {
    ...{ name, file, executable, dataset: name, delivery: 'once', hasTimeout: true, isRight: isOrder },
    start: async ({ url, lines, run }) => {
      let complaints = ''
      let running: { child: ChildProcess; exit: Promise<unknown> } | undefined
      return {
        send: async () => {
          const child = run([...args, String(lines), String(LINES_PER_PART)], {
            env: { PYTHONPATH: join(root, 'clients/python'), DENDRO_URL: url },
            stdio: ['pipe', 'inherit', 'pipe'],
          })
          child.stderr?.on('data', (chunk) => {
            complaints += chunk
          })
          running = { child, exit: once(child, 'exit') }
        },
        stop: async () => {
          running?.child.stdin?.end()
          if (running) expect(await running.exit, complaints).toEqual([0, null])
        },
      }
    },
  }

  function isOrder(
    { '@status': status, message_kvs, metadata: { timestamp } }: DeliveredEvent,
    line: number,
    { startMs }: Placement,
  ): boolean {
    const { number, message, msg, 'cart.items': items } = message_kvs
    const isTimed = timestamp >= startMs && timestamp <= Date.now()
    return status === 'warn' && (message ?? msg) === textOf(name, line) && number === String(line) && items === '2' && isTimed
  }
}

const loggingProgram = join(import.meta.dirname, 'logging-program.ts')

/** Programs that send lines while the service is killed once and the network stalls once. */
export const deliveryPrograms: readonly DeliveryProgram[] = [
  application('pino', 'pino.mjs', process.execPath, [loggingProgram, 'pino']),
  application('winston', 'winston.mjs', process.execPath, [loggingProgram, 'winston']),
  application('python', 'python-logging.py', programOf('python3'), [join(root, 'clients/python/tests/logging_program.py')]),
  ...syslogDaemons,
  ...fileReaders,
  journalUpload,
  ...dockerDrivers,
  nginx,
]
