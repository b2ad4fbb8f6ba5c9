import { once } from 'node:events'
import { join } from 'node:path'
import pino from 'pino'
import winston from 'winston'
import { DendroTransport } from '../../clients/javascript/src/winston.ts'
import { textOf } from './delivery-line.ts'

/** An application that logs through `pino` or `winston`: arguments are the logger and a number of lines. It ends when its input ends. */
const [, , name, count] = process.argv
const options = {
  dataset: name ?? '',
  batchEventsMax: 200,
  lingerMs: 50,
  requestTimeoutMs: 2_000,
}
const transportFile = join(import.meta.dirname, '../../clients/javascript/src/pino.ts')

function createLog(): { write(number: number): void; end(): Promise<unknown> } {
  if (name === 'pino') {
    const log = pino(pino.transport({ target: transportFile, options }))
    return {
      write: (number) => log.warn({ number, cart: { items: 2 } }, textOf(name ?? '', number)),
      // At the end of the process, pino waits for its worker thread.
      end: async () => undefined,
    }
  }
  const log = winston.createLogger({ transports: [new DendroTransport(options)] })
  return {
    write: (number) => void log.warn(textOf(name ?? '', number), { number, cart: { items: 2 } }),
    end: () => {
      const finished = once(log, 'finish')
      log.end()
      return finished
    },
  }
}

const log = createLog()
for (let number = 0; number < Number(count); number += 1) log.write(number)
process.stdin.resume()
await once(process.stdin, 'end')
await log.end()
