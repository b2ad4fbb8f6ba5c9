import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ClickHouseError } from '@clickhouse/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../kernel/secret.ts'
import { openReads, type Reads } from './reads.ts'

type Received = { url: URL; body: string; headers: IncomingMessage['headers'] }
const RESULT_BYTES_MAX = 1_000
const EMPTY = '{"read_rows":"0","result_rows":"0"}'
const received: Received[] = []
const sockets = new Set<Socket>()
let reply: (answer: ServerResponse) => void = (answer) => void answer.setHeader('x-clickhouse-summary', EMPTY).end()

const server = createServer(async (request, answer) => {
  const body = Buffer.concat(await request.toArray()).toString()
  received.push({ url: new URL(request.url ?? '', 'http://store'), body, headers: request.headers })
  reply(answer)
})
server.on('connection', (socket: Socket) => sockets.add(socket))

let reads: Reads
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  reads = open(60_000)
})
afterAll(() => {
  reads.close()
  server.closeAllConnections()
  server.close()
})

function open(idleMs: number): Reads {
  const { port } = server.address() as AddressInfo
  const login = { user: 'reader', password: new Secret('pass:word') }
  const options = { settings: { readonly: '2' as const }, connectionsMax: 4, idleMs }
  return openReads({ url: `http://127.0.0.1:${port}`, database: 'events' }, login, options)
}

const run = (settings = {}, signal = new AbortController().signal) =>
  reads.run({ body: 'select 1', contentType: 'text/plain', queryId: 'one', settings, signal, resultBytesMax: RESULT_BYTES_MAX })

test('statements in turn use one connection, with login, settings and cost', async () => {
  reply = (answer) => answer.setHeader('x-clickhouse-summary', '{"read_rows":"7","read_bytes":"90","result_rows":"1"}').end('rows')
  expect(await run({ max_threads: 2, priority: '1', log_comment: undefined })).toEqual({
    bytes: Buffer.from('rows'),
    rows: 1,
    readRows: 7,
    readBytes: 90,
  })
  reply = (answer) => void answer.setHeader('x-clickhouse-summary', EMPTY).end()
  await run()
  expect(sockets.size).toBe(1)
  const [first] = received
  expect(Object.fromEntries(first?.url.searchParams ?? [])).toEqual({
    query_id: 'one',
    database: 'events',
    readonly: '2',
    max_threads: '2',
    priority: '1',
    wait_end_of_query: '1',
    http_response_buffer_size: String(RESULT_BYTES_MAX),
  })
  expect([first?.body, first?.headers['content-length'], first?.headers.authorization]).toEqual([
    'select 1',
    '8',
    `Basic ${Buffer.from('reader:pass:word').toString('base64')}`,
  ])
})

test.each([
  ['with its status', 500, {}],
  ['after the status', 200, { 'x-clickhouse-exception-code': '241' }],
])('a failure of the store %s has its code', async (_, status, headers) => {
  reply = (answer) => answer.writeHead(status, headers).end('Code: 241. DB::Exception: too much (MEMORY_LIMIT_EXCEEDED) (version 1)')
  await expect(run()).rejects.toMatchObject({ code: '241', type: 'MEMORY_LIMIT_EXCEEDED' })
  await expect(run()).rejects.toBeInstanceOf(ClickHouseError)
})

test.each([
  ['without its rows', '{"result_rows":"1"}', ''],
  ['with more than its rows', '{"result_rows":"0"}', 'rows'],
  ['without a number of rows', '{"read_rows":"1"}', 'rows'],
  ['without a summary', undefined, 'rows'],
  ['with half a summary', '{"result_ro', 'rows'],
])('a result %s is incomplete, which is 503', async (_, summary, body) => {
  reply = (answer) => {
    if (summary !== undefined) answer.setHeader('x-clickhouse-summary', summary)
    answer.end(body)
  }
  await expect(run()).rejects.toMatchObject({ status: 503, message: 'the event store returned an incomplete result' })
})

test('a result that the store cannot hold in memory is too large', async () => {
  reply = (answer) => answer.setHeader('x-clickhouse-summary', '{"result_rows":"9"}').end('x'.repeat(RESULT_BYTES_MAX))
  await expect(run()).rejects.toMatchObject({ code: '396' })
})

test.each([
  ['before', false],
  ['in', true],
])('a connection that is lost %s the result fails the read', async (_, hasBegun) => {
  reply = (answer) => {
    if (hasBegun) answer.writeHead(200, { 'content-length': '100' }).write('part', () => answer.destroy())
    else answer.destroy()
  }
  await expect(run()).rejects.toThrow(/aborted|hang up|ECONNRESET/)
})

test('aborting closes the connection of a read that runs, and sends nothing when it comes first', async () => {
  const began = Promise.withResolvers<{ closed: Promise<unknown> }>()
  reply = (answer) => began.resolve({ closed: once(answer, 'close') })
  const leaving = new AbortController()
  const running = run({}, leaving.signal)
  const { closed } = await began.promise
  leaving.abort(new Error('the caller left'))
  await expect(running).rejects.toThrow('the caller left')
  await closed
  const before = received.length
  await expect(run({}, leaving.signal)).rejects.toThrow('the caller left')
  expect(received).toHaveLength(before)
})

test('a connection that was unused for too long is not used again', async () => {
  reply = (answer) => void answer.setHeader('x-clickhouse-summary', EMPTY).end()
  const opened = sockets.size
  const impatient = open(0)
  const signal = new AbortController().signal
  const statement = { body: 'select 1', contentType: 'text/plain', queryId: 'one', settings: {}, signal, resultBytesMax: RESULT_BYTES_MAX }
  for (let round = 0; round < 3; round += 1) await impatient.run(statement)
  impatient.close()
  expect(sockets.size - opened).toBe(3)
})
