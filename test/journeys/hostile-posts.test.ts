import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryMbOf, peakMbDuring } from '../support/process-memory.ts'
import { complaintsOf, copyMadeStores, killServices, type Service, startService, until, untilUp } from '../support/service.ts'

/** Hostile requests to the real program, while the memory of all its processes is watched. */
let dir: string
let service: Service
let key = ''
let calmMb = 0
let upMs = 0
/** Wide, to distinguish bounded memory from memory that grows with the input. Accepted data may use all the configured memory. */
const GROWTH_MB = 400
const ALL_MB = 2_048

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-hostile-'))
  await copyMadeStores(dir)
  service = await untilUp(startService(dir))
  upMs = performance.now()
  key = /dk_[\w-]+/.exec(service.said())?.[0] ?? ''
  // Includes the memory of an ordinary large request.
  for (let times = 0; times < 2; times += 1) {
    expect((await post({ body: ordinary })).status).toBe(200)
    expect((await post({ path: '/_bulk', body: bulkOf(ordinaryLines) })).status).toBe(200)
  }
  calmMb = memoryMbOf(service.child.pid ?? 0)
})
afterAll(async () => {
  agent.destroy()
  await killServices()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const ordinaryLines = Array.from(
  { length: 50_000 },
  (_, number) => `{"number":${number},"message":"order ${number} was taken","level":"info"}`,
)
const ordinary = ordinaryLines.join('\n')
const bulkOf = (documents: readonly string[]) => documents.map((document) => `{"index":{"_index":"bulk"}}\n${document}\n`).join('')

type Post = { path?: string; type?: string; encoding?: string; body: string | Uint8Array | Readable }
type Answer = { status: number; body: string }

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

/** Sends a body unchanged, a stream in chunks; a response before the end of the body counts. */
function post({ path = '/ingest/hostile/posts', type = 'application/x-ndjson', encoding, body }: Post): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const headers = { 'x-service-api-key': key, 'content-type': type, ...(encoding === undefined ? {} : { 'content-encoding': encoding }) }
  const sent = request(`${service.url}${path}`, { method: 'POST', headers, agent }, (answer) => {
    const parts: Buffer[] = []
    answer.on('data', (part) => parts.push(part))
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() }))
    answer.on('error', reject)
  })
  sent.on('error', reject)
  if (body instanceof Readable) body.on('error', () => undefined).pipe(sent)
  else sent.end(body)
  return promise
}

/**
 * Runs hostile work next to an ordinary sender: all its requests succeed, and memory stays within bounds. On a busy machine the event store may be late
 * for one of its requests, which it then sends again; it is refused for no other reason.
 */
async function harmless(work: () => Promise<unknown>, mbMax = calmMb + GROWTH_MB): Promise<void> {
  let isOver = false
  const others = async () => {
    for (let isStored = false; !isStored || !isOver; ) {
      const answer = await post({ path: '/ingest/hostile/others', body: '{"message":"one of many"}' })
      isStored = answer.status === 200
      if (!isStored && isLateStore(answer)) continue
      expect(answer).toEqual({ status: 200, body: '{"accepted":1,"rejected":0}' })
    }
  }
  const peakMb = await peakMbDuring(service.child.pid ?? 0, async () => {
    const working = work().finally(() => {
      isOver = true
    })
    await Promise.all([working, others()])
  })
  expect(peakMb).toBeLessThan(mbMax)
}

const isLateStore = ({ status, body }: Answer): boolean => status === 503 && body.includes('did not store these events within')

const recordOf = (members: string): Post => ({
  path: '/v1/logs',
  type: 'application/json',
  body: Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{${members}}]}]}]}`, 'latin1'),
})

const MIB = 2 ** 20
const gibOf = (byte: string) => Readable.from(repeated(Buffer.alloc(MIB, byte), 1_024))
/** Has several members, so that creating it costs less than reading it. */
const compressedGib = (byte: string) => Buffer.concat([...repeated(gzipSync(Buffer.alloc(16 * MIB, byte), { level: 1 }), 64)])
function* repeated(part: Buffer, times: number): Generator<Buffer> {
  for (let at = 0; at < times; at += 1) yield part
}

const IDLE = 5_000
const idle: { socket: Socket; kind: string; answer: string; isClosed: boolean }[] = []

/** Connections that send nothing, never finish their headers, or never finish their bodies. */
const stalls: Record<string, () => string> = {
  nothing: () => '',
  'half of a head': () => 'POST /ingest HTTP/1.1\r\nhost: dendro\r\nx-',
  'a byte of a body': () =>
    `POST /ingest HTTP/1.1\r\nhost: dendro\r\nx-service-api-key: ${key}\r\ncontent-type: text/plain\r\ncontent-length: 1000000\r\n\r\nx`,
}

/** Resolves with the answer to a request on a connection of its own. */
const alive = (): Promise<unknown> =>
  new Promise(
    (done, fail) => void get(`${service.url}/live`, { agent: false }, (answer) => answer.resume().once('end', done)).once('error', fail),
  )

/** Less than the number of connections that may wait to be accepted. */
const BURST = 200

test(`${IDLE} stalled connections do not affect other callers`, async () => {
  const { hostname, port } = new URL(service.url)
  await harmless(async () => {
    const kinds = Object.entries(stalls)
    for (let at = 0; at < IDLE; at += 1) {
      const [kind = '', say] = kinds[at % kinds.length] ?? []
      const socket = connect(Number(port), hostname)
      const one = { socket, kind, answer: '', isClosed: false }
      socket.on('data', (part) => {
        one.answer += part
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        one.isClosed = true
      })
      socket.write(say?.() ?? '')
      idle.push(one)
      // Its answer means that the connections before it were accepted, since it has a connection of its own. The system forgets those that wait behind too
      // many others, and nobody closes them.
      if (at % BURST === 0) await alive()
    }
    await until(() => idle.every(({ socket, isClosed }) => isClosed || !socket.connecting))
  })
})

describe('a body that is too large is refused by its size, and no more of it is kept than is allowed', () => {
  const gib: Record<string, () => Post> = {
    'a line of 1 GiB': () => ({ body: gibOf('a') }),
    'a line of 1 GiB, compressed': () => ({ encoding: 'gzip', body: compressedGib('a') }),
    'a bulk post of 1 GiB': () => ({ path: '/_bulk', body: gibOf('a') }),
    'a bulk post of 1 GiB, compressed': () => ({
      path: '/_bulk',
      encoding: 'gzip',
      body: compressedGib('\n'),
    }),
    'records of 1 GiB, compressed': () => ({
      path: '/v1/logs',
      type: 'application/x-protobuf',
      encoding: 'gzip',
      body: compressedGib('\n'),
    }),
  }
  test.each(Object.entries(gib))('%s', async (_, make) => {
    const made = make()
    let answer: Answer | undefined
    await harmless(async () => {
      answer = await post(made)
    })
    expect(answer?.status).toBe(413)
    expect(answer?.body).toMatch(/larger than \d+ bytes/)
  })
})

describe('odd events are taken, or refused by name, in every protocol', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const odd: Record<string, string | Uint8Array> = {
    '100 000 keys': JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, number) => [`key${number}`, number]))),
    '10 000 levels': nested(10_000),
    'invalid UTF-8': Buffer.from([...Buffer.from('{"a":"'), 0xff, 0xc0, 0xed, 0xa0, 0x80, ...Buffer.from('","b":1}')]),
    'lone surrogates': '{"a":"\\ud800","b":"\\udfff\\ud800x","\\udc00":1}',
  }
  const ways: Record<string, (line: Buffer) => Post> = {
    natively: (line) => ({ body: line }),
    'in bulk': (line) => ({ path: '/_bulk', body: Buffer.concat([Buffer.from('{"index":{"_index":"odd"}}\n'), line, Buffer.from('\n')]) }),
    'as the body of a log record': (line) => recordOf(`"body":{"stringValue":"${line.toString('latin1').replaceAll(/["\\]/g, '\\$&')}"}`),
  }
  const cases = Object.keys(odd).flatMap((name) => Object.keys(ways).map((way) => [name, way] as const))
  test.each(cases)('%s %s', async (name, way) => {
    let answer: Answer | undefined
    await harmless(async () => {
      answer = await post(ways[way]?.(Buffer.from(odd[name] ?? '')) ?? { body: '' })
    })
    expect(answer?.status).toBe(200)
    expect(answer?.body).not.toMatch(/"errors":true|partialSuccess|"rejected":[1-9]/)
  })
})

test('a log record with 100 000 attributes is taken, one with 10 000 levels refused by the rule it breaks', async () => {
  const attribute = (number: number) => `{"key":"key${number}","value":{"intValue":"${number}"}}`
  const wide = recordOf(`"attributes":[${Array.from({ length: 100_000 }, (_, number) => attribute(number)).join(',')}]`)
  const deep = recordOf(`"body":${'{"arrayValue":{"values":['.repeat(10_000)}{"intValue":1}${']}}'.repeat(10_000)}`)
  const answers: Answer[] = []
  await harmless(async () => {
    for (const record of [wide, deep]) answers.push(await post(record))
  })
  expect(answers[0]).toEqual({ status: 200, body: '{}' })
  expect(answers[1]?.status).toBe(200)
  expect(answers[1]?.body).toMatch(/"rejectedLogRecords":"1","errorMessage":".*100 levels deep/)
})

test('many concurrent bodies just below the limit get a retryable status and are not all held in memory', async () => {
  const body = gzipSync(Buffer.alloc(99 * MIB, '\n'), { level: 1 })
  let answers: Answer[] = []
  await harmless(async () => {
    answers = await Promise.all(Array.from({ length: 4 }, () => post({ path: '/_bulk', encoding: 'gzip', body })))
  }, ALL_MB)
  expect(answers.every(({ status }) => status === 200 || status === 503)).toBe(true)
  expect(answers.some(({ status }) => status === 503)).toBe(true)
})

test('a million lines in a post are taken, and more refused', async () => {
  let answer: Answer | undefined
  await harmless(async () => {
    answer = await post({ body: 'x\n'.repeat(1_000_000) })
  }, ALL_MB)
  expect(answer).toEqual({ status: 200, body: '{"accepted":1000000,"rejected":0}' })
  expect(await post({ body: 'x\n'.repeat(1_000_001) })).toMatchObject({
    status: 413,
    body: expect.stringContaining('more than 1000000 lines'),
  })
})

test('every stalled connection was closed, and those with a partial request got a reason', async () => {
  await until(() => idle.every(({ isClosed }) => isClosed))
  for (const { kind, answer } of idle) if (kind !== 'nothing') expect([kind, answer.slice(0, 12)]).toEqual([kind, 'HTTP/1.1 408'])
})

test('the log names each reason once a minute, without the inside of the program', () => {
  const said = complaintsOf(service).map((line) => JSON.parse(line) as { level: string; msg: string; protocol?: string; reason?: string })
  expect(said.filter(({ msg }) => !/^(more )?posts (are|were) refused$/.test(msg))).toEqual([])
  const minutes = Math.ceil((performance.now() - upMs) / 60_000)
  const byReason = Object.groupBy(said, ({ msg, protocol, reason }) => `${msg} ${protocol} ${reason}`)
  for (const [what, lines] of Object.entries(byReason)) expect(lines?.length, what).toBeLessThanOrEqual(minutes)
  expect(complaintsOf(service).join('\n')).not.toContain('stack')
})
