import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import winston from 'winston'
import { BatchSender, type DropReport } from '../../clients/javascript/src/batch-sender.ts'
import pinoDestination from '../../clients/javascript/src/pino.ts'
import { DendroTransport } from '../../clients/javascript/src/winston.ts'
import { freePort, killServices, type Service, startService, stop, until, untilUp } from '../service.ts'
import { openStallingProxy, type StallingProxy } from './stalling-proxy.ts'

/** Applications log through every handler while the service is killed once and the network stalls once. */
const LINES = 10_000
const KEY = 'dk_five-owls-in-a-row-on-the-telegraph-wire'
const root = join(import.meta.dirname, '../..')
const hasPython = spawnSync('python3', ['--version']).status === 0
const programs: Record<string, readonly string[]> = {
  pino: [process.execPath, join(import.meta.dirname, 'logging-program.ts'), 'pino'],
  winston: [process.execPath, join(import.meta.dirname, 'logging-program.ts'), 'winston'],
  ...(hasPython ? { python: ['python3', join(root, 'clients/python/tests/logging_program.py')] } : {}),
}
const env = { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_RATE_LIMIT: 'off' }

let dir: string
let proxy: StallingProxy
let service: Service
const children: ChildProcess[] = []
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-handlers-'))
  proxy = await openStallingProxy()
  service = await untilUp(startService(dir, env))
  proxy.passTo(portOf(service.url))
})
afterAll(async () => {
  for (const child of children) await stop(child, 'SIGKILL')
  await killServices()
  await proxy?.close()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

type FoundEvents = {
  events: { message_kvs: Record<string, string>; '@status': string; metadata: { timestamp: number } }[]
  totals: { count: number }
}

async function eventsOf(dataset: string): Promise<FoundEvents> {
  const answer = await fetch(`${service.url}/search`, {
    method: 'POST',
    headers: { 'x-service-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ from_expr: `dataset = '${dataset}'`, time_range: 'Last 1 hour', select: ['*'], limit: LINES }),
  })
  return answer.status === 200 ? ((await answer.json()) as FoundEvents) : { events: [], totals: { count: 0 } }
}

const addressOf = ({ port }: StallingProxy): string => `http://127.0.0.1:${port}`
const portOf = (url: string): number => Number(new URL(url).port)

test(`${Object.keys(programs).join(', ')}: ${LINES} lines arrive exactly once through a kill and a stall${hasPython ? '' : ' (Python is missing)'}`, async () => {
  const startMs = Date.now()
  const senders = Object.keys(programs).length
  proxy.passTo(portOf(service.url), { mode: 'hold answers', afterAnswers: senders })
  const complaints: string[] = []
  for (const [program = '', ...args] of Object.values(programs)) {
    const child = spawn(program, [...args, String(LINES)], {
      env: { ...process.env, PYTHONPATH: join(root, 'clients/python'), DENDRO_URL: addressOf(proxy), DENDRO_API_KEY: KEY },
      stdio: ['pipe', 'inherit', 'pipe'],
    })
    child.stderr?.on('data', (chunk) => complaints.push(String(chunk)))
    children.push(child)
  }

  // The service has stored a batch of every sender when it is killed, and no sender knows.
  await until(() => proxy.held() === senders)
  await stop(service.child, 'SIGKILL')
  service = await untilUp(startService(dir, env))
  proxy.passTo(portOf(service.url), { mode: 'stall', afterAnswers: 2 * senders })
  await until(() => proxy.givenUp() >= senders)
  proxy.passTo(portOf(service.url))

  for (const dataset of Object.keys(programs)) await until(async () => (await eventsOf(dataset)).totals.count >= LINES)
  for (const child of children) {
    const exit = once(child, 'exit')
    child.stdin?.end()
    expect(await exit, complaints.join('')).toEqual([0, null])
  }
  for (const dataset of Object.keys(programs)) {
    const { events, totals } = await eventsOf(dataset)
    expect({ dataset, count: totals.count }).toEqual({ dataset, count: LINES })
    expect(new Set(events.map(({ message_kvs: { number } }) => number)).size).toBe(LINES)
    const wrong = events.filter(
      ({ '@status': status, message_kvs: { number, message, msg, 'cart.items': items }, metadata: { timestamp } }) =>
        status !== 'warn' || (message ?? msg) !== `order ${number}` || items !== '2' || timestamp < startMs || timestamp > Date.now(),
    )
    expect(wrong.slice(0, 3)).toEqual([])
  }
})

test.each([
  ['events', { queueEventsMax: 300 }, 300],
  ['bytes', { queueBytesMax: 300 * 28 }, 300],
])('a queue that is full of %s drops the newest, and one event in the dataset counts them', async (name, bounds, kept) => {
  const reports: DropReport[] = []
  const dataset = `full-of-${name}`
  proxy.stall()
  const sender = new BatchSender({
    ...{ url: addressOf(proxy), key: KEY, dataset, batchEventsMax: 100, ...bounds },
    onDrop: (report) => reports.push(report),
    onError: () => undefined,
  })
  // Each line has 28 bytes with its end.
  const accepted = Array.from({ length: 1_000 }, (_, number) => sender.send(`{"number":${1_000_000_000 + number},"a":1}`))
  expect(accepted).toEqual(Array.from({ length: 1_000 }, (_, number) => number < kept))
  proxy.passTo(portOf(service.url))
  expect(await sender.close()).toBe(true)
  expect(reports.reduce((sum, { count }) => sum + count, 0)).toBe(1_000 - kept)
  expect(reports.at(-1)?.total).toBe(1_000 - kept)
  const { events } = await eventsOf(dataset)
  const numbers = events.flatMap(({ message_kvs: { number } }) => (number === undefined ? [] : [Number(number) - 1_000_000_000]))
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: kept }, (_, number) => number))
  const counted = events.flatMap(({ message_kvs: { dropped_events: dropped } }) => (dropped === undefined ? [] : [dropped]))
  expect(counted).toEqual([String(1_000 - kept)])
})

test('what cannot be delivered until the time limit is counted as closed', async () => {
  const reports: DropReport[] = []
  const sender = new BatchSender({
    ...{ url: `http://127.0.0.1:${await freePort()}`, key: KEY, batchEventsMax: 10 },
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
  const options = { url: addressOf(proxy), key: KEY, dataset: 'hostile' }
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
  const { events, totals } = await eventsOf('hostile')
  expect(totals.count).toBe(4)
  const ofWinston = events.find(({ message_kvs: { message } }) => message === 'from winston')
  expect(ofWinston).toMatchObject({
    '@status': 'warn',
    message_kvs: {
      big: String(2n ** 70n),
      'circular.self': '[circular]',
      'error.cause.message': 'inner',
      'broken.getter': '[unreadable: no]',
    },
  })
  expect(events.filter(({ '@status': status }) => status === 'error')).toHaveLength(2)
})
