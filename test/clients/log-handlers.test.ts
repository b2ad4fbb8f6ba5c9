import { once } from 'node:events'
import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import winston from 'winston'
import { BatchSender, type DropReport } from '../../clients/javascript/src/batch-sender.ts'
import pinoDestination from '../../clients/javascript/src/pino.ts'
import { DendroTransport } from '../../clients/javascript/src/winston.ts'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { openSenders, type Senders } from '../support/senders.ts'
import { openStallingProxy, type StallingProxy } from './stalling-proxy.ts'

/** The bounds of log handlers, and values that applications give them. `deliveries.test.ts` sends through a kill and a stall. */
let senders: Senders
let key: string
let proxy: StallingProxy
beforeAll(async () => {
  senders = await openSenders()
  key = await senders.org.newKey(['IngestionApi'])
  proxy = await openStallingProxy()
  proxy.passTo(portOfService())
})
afterAll(async () => {
  await senders?.close()
  await proxy?.close()
})

const portOfService = (): number => Number(new URL(senders.app.url).port)
const addressOf = ({ port }: StallingProxy): string => `http://127.0.0.1:${port}`

/** A busy machine may need longer than the usual limit. */
const NO_LIMIT_MS = 300_000

test.each([
  ['events', { queueEventsMax: 300 }, 300],
  ['bytes', { queueBytesMax: 300 * 28 }, 300],
])('a queue that is full of %s drops the newest, and one event in the dataset counts them', async (name, bounds, kept) => {
  const reports: DropReport[] = []
  const dataset = `full-of-${name}`
  proxy.stall()
  const sender = new BatchSender({
    ...{ url: addressOf(proxy), key, dataset, batchEventsMax: 100, ...bounds },
    onDrop: (report) => reports.push(report),
    onError: () => undefined,
  })
  // Each line has 28 bytes with its end.
  const accepted = Array.from({ length: 1_000 }, (_, number) => sender.send(`{"number":${1_000_000_000 + number},"a":1}`))
  expect(accepted).toEqual(Array.from({ length: 1_000 }, (_, number) => number < kept))
  proxy.passTo(portOfService())
  expect(await sender.close(NO_LIMIT_MS)).toBe(true)
  expect(reports.reduce((sum, { count }) => sum + count, 0)).toBe(1_000 - kept)
  expect(reports.at(-1)?.total).toBe(1_000 - kept)
  const events = await senders.eventsIn(dataset)
  const numbers = events.flatMap(({ keys: { number } }) => (number === undefined ? [] : [Number(number) - 1_000_000_000]))
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: kept }, (_, number) => number))
  const counted = events.flatMap(({ keys: { dropped_events: dropped } }) => (dropped === undefined ? [] : [dropped]))
  expect(counted).toEqual([String(1_000 - kept)])
})

test('records that cannot be delivered until the time limit are counted as closed', async () => {
  const reports: DropReport[] = []
  const sender = new BatchSender({
    ...{ url: `http://127.0.0.1:${await freePort()}`, key, batchEventsMax: 10 },
    onDrop: (report) => reports.push(report),
    onError: () => undefined,
  })
  for (let number = 0; number < 25; number += 1) sender.send('{}')
  expect(await sender.close(100)).toBe(false)
  expect(sender.send('{}')).toBe(false)
  expect(reports).toEqual([{ count: 25, reasons: { closed: 25 }, total: 25 }])
})

test('hostile values reach the service and never throw into the application', async () => {
  const circular: Record<string, unknown> = { a: 1 }
  circular.self = circular
  const hostile = {
    circular,
    big: 2n ** 70n,
    error: new Error('outer', { cause: new Error('inner', { cause: circular }) }),
    half: 'a\ud800b',
    huge: 'x'.repeat(3_000_000),
    date: new Date(Number.NaN),
    // winston itself reads the outermost members.
    broken: {
      get getter(): string {
        throw new Error('no')
      },
    },
  }
  const options = { url: addressOf(proxy), key, dataset: 'hostile' }
  // The default format of winston throws for such values before a transport sees them.
  const asIs = winston.format((info) => info)()
  const logger = winston.createLogger({ format: asIs, transports: [new DendroTransport(options)] })
  logger.warn('from winston', hostile)
  logger.error(new Error('an error itself', { cause: new Error('its cause') }))
  const finished = once(logger, 'finish')
  logger.end()
  await finished
  const stream = pinoDestination({ ...options, eventBytesMax: 10_000_000 })
  const log = pino(stream)
  log.warn(hostile, 'from pino')
  log.error(new Error('an error itself', { cause: new Error('its cause') }))
  const closed = once(stream, 'finish')
  stream.end()
  await closed
  const events = await senders.eventsIn('hostile')
  expect(events).toHaveLength(4)
  const ofWinston = events.find(({ keys: { message } }) => message === 'from winston')
  expect(ofWinston).toMatchObject({
    severity: 'warn',
    keys: {
      big: String(2n ** 70n),
      'circular.self': '[circular]',
      'error.cause.message': 'inner',
      'broken.getter': '[unreadable: no]',
    },
  })
  expect(events.filter(({ severity }) => severity === 'error')).toHaveLength(2)
})
