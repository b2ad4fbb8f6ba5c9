import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ClickHouseError } from '@clickhouse/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../kernel/secret.ts'
import { openReads, type Reads } from './reads.ts'

type Asked = { url: URL; body: string; headers: IncomingMessage['headers'] }
const asked: Asked[] = []
const sockets = new Set<Socket>()
let reply: (answer: ServerResponse) => void = (answer) => void answer.end()

const server = createServer(async (request, answer) => {
  const body = Buffer.concat(await request.toArray()).toString()
  asked.push({ url: new URL(request.url ?? '', 'http://store'), body, headers: request.headers })
  reply(answer)
})
server.on('connection', (socket: Socket) => sockets.add(socket))

let reads: Reads
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const login = { user: 'reader', password: new Secret('pass:word') }
  reads = openReads({ url: `http://127.0.0.1:${port}`, database: 'events' }, login, {
    settings: { readonly: '2' },
    connectionsMax: 4,
    idleMs: 60_000,
  })
})
afterAll(() => {
  reads.close()
  server.closeAllConnections()
  server.close()
})

const run = (settings = {}, signal = new AbortController().signal) =>
  reads.run({ body: 'select 1', contentType: 'text/plain', queryId: 'one', settings, signal })

test('statements in turn use one connection, with login, settings and cost', async () => {
  reply = (answer) => answer.setHeader('x-clickhouse-summary', '{"read_rows":"7","read_bytes":"90"}').end('rows')
  expect(await run({ max_threads: 2, priority: '1', log_comment: undefined })).toEqual({
    bytes: Buffer.from('rows'),
    readRows: 7,
    readBytes: 90,
  })
  await run()
  expect(sockets.size).toBe(1)
  const [first] = asked
  expect(Object.fromEntries(first?.url.searchParams ?? [])).toEqual({
    query_id: 'one',
    database: 'events',
    readonly: '2',
    max_threads: '2',
    priority: '1',
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
  const before = asked.length
  await expect(run({}, leaving.signal)).rejects.toThrow('the caller left')
  expect(asked).toHaveLength(before)
})
