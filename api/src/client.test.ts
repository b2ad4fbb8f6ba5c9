import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { ApiFailure, clientRoutes, makeClient, NoResponse } from './client.ts'
import { endpoint } from './endpoint.ts'
import { listParameter } from './values.ts'

const things = {
  list: endpoint({
    method: 'GET',
    path: '/things',
    permission: 'logs_read',
    tier: 'D',
    summary: 'All things',
    query: z.object({ from: listParameter(z.string()), limit: z.int().optional() }),
    reply: z.object({ things: z.array(z.object({ sequence: z.union([z.int(), z.bigint()]) })) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/things',
    permission: 'logs_write',
    tier: 'D',
    summary: 'Make a thing',
    body: z.object({ name: z.string(), size: z.int().default(1) }),
    status: 201,
    reply: z.object({ id: z.string() }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/things/{thingId}/parts/{partId}',
    permission: 'logs_read',
    tier: 'D',
    summary: 'One part',
    reply: z.object({ id: z.string() }),
  }),
  remove: endpoint({ method: 'DELETE', path: '/things/{thingId}', permission: 'logs_delete', tier: 'D', summary: 'Remove a thing' }),
  text: endpoint({
    method: 'GET',
    path: '/things.csv',
    permission: 'logs_read',
    tier: 'D',
    summary: 'Things as text',
    media: 'text/csv',
    reply: z.string(),
  }),
}
const contract = { things }

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
type Answer = { status: number; headers?: Record<string, string>; body?: string }

let server: Server | undefined
afterEach(() => server?.close())

/** Runs an HTTP server that sends the responses in turn and records the requests. The last response repeats. */
async function answering(...answers: Answer[]): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = []
  server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString()
    const answer = answers[Math.min(seen.length, answers.length - 1)] ?? { status: 500 }
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    response.writeHead(answer.status, { 'content-type': 'application/json; charset=utf-8', ...answer.headers }).end(answer.body ?? '')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server?.once('listening', resolve))
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen }
}

const failure = (code: number, details: string) =>
  JSON.stringify({ code, type: 'Some Type', correlation_id: 'c'.repeat(32), details, errors: [{ field: 'name', code: 'X', message: 'y' }] })
const patient = { attemptsMax: 3, waitMsMax: 2_000 }

test('a call sends credential, path, query and body as the contract declares, and returns the reply', async () => {
  const { baseUrl, seen } = await answering({ status: 201, body: '{"id":"t1"}' }, { status: 200, body: '{"id":"p1"}' })
  const client = makeClient(contract, { baseUrl, key: 'dk_1' })
  expect(await client.things.create({ body: { name: 'ä' } })).toEqual({ id: 't1' })
  expect(await client.things.get({ params: { thingId: 'a/b c', partId: '%' } })).toEqual({ id: 'p1' })
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/things', body: '{"name":"ä"}' })
  expect(seen[0]?.headers).toMatchObject({ 'x-service-api-key': 'dk_1', 'content-type': 'application/json' })
  expect(seen[1]?.url).toBe('/things/a%2Fb%20c/parts/%25')
  expect(seen[1]?.headers['content-type']).toBeUndefined()
})

test('a token goes into the authorization header', async () => {
  const { baseUrl, seen } = await answering({ status: 200, body: '{"things":[]}' })
  await makeClient(contract, { baseUrl, token: 'a.b.c' }).things.list()
  expect(seen[0]?.headers.authorization).toBe('Bearer a.b.c')
})

test('a list in the query repeats its name, and undefined values are omitted', async () => {
  const { baseUrl, seen } = await answering({ status: 200, body: '{"things":[]}' })
  await makeClient(contract, { baseUrl }).things.list({ query: { from: ['a', 'b&c'], limit: undefined } })
  expect(seen[0]?.url).toBe('/things?from=a&from=b%26c')
})

test('an answer without a body is undefined, and text stays text', async () => {
  const { baseUrl } = await answering({ status: 204 }, { status: 200, headers: { 'content-type': 'text/csv' }, body: 'a,b\n' })
  const client = makeClient(contract, { baseUrl })
  expect(await client.things.remove({ params: { thingId: 't' } })).toBeUndefined()
  expect(await client.things.text()).toBe('a,b\n')
})

test('whole numbers beyond 2^53 arrive and leave exact', async () => {
  const { baseUrl, seen } = await answering({ status: 200, body: '{"things":[{"sequence":9223372036854775807}]}' })
  const client = makeClient(contract, { baseUrl })
  expect((await client.things.list()).things[0]?.sequence).toBe(9223372036854775807n)
  await client.things.create({ body: { name: 'n', size: 9007199254740993n as unknown as number } })
  expect(seen[1]?.body).toBe('{"name":"n","size":9007199254740993}')
})

test('an error response is thrown with all fields of its body', async () => {
  const { baseUrl } = await answering({ status: 400, body: failure(400, 'name is required') })
  const thrown = await makeClient(contract, { baseUrl })
    .things.create({ body: { name: '' } })
    .catch((caught: unknown) => caught)
  expect(thrown).toBeInstanceOf(ApiFailure)
  expect(thrown).toMatchObject({
    status: 400,
    details: 'name is required',
    message: 'name is required',
    correlation_id: 'c'.repeat(32),
    errors: [{ field: 'name', code: 'X', message: 'y' }],
    retryAfterS: undefined,
  })
})

test('a failure from a proxy is still a failure', async () => {
  const { baseUrl } = await answering({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' })
  await expect(makeClient(contract, { baseUrl }).things.list()).rejects.toMatchObject({ status: 502, correlation_id: undefined })
})

test('a repeatable call waits for Retry-After and is retried', async () => {
  const wait = { status: 429, headers: { 'retry-after': '0' }, body: failure(429, 'too many') }
  const { baseUrl, seen } = await answering(wait, { ...wait, status: 503 }, { status: 200, body: '{"things":[]}' })
  expect(await makeClient(contract, { baseUrl, retry: patient }).things.list()).toEqual({ things: [] })
  expect(seen).toHaveLength(3)
})

test('retries are bounded', async () => {
  const { baseUrl, seen } = await answering({ status: 503, headers: { 'retry-after': '0' }, body: failure(503, 'starting') })
  await expect(makeClient(contract, { baseUrl, retry: patient }).things.list()).rejects.toMatchObject({ status: 503, retryAfterS: 0 })
  expect(seen).toHaveLength(3)
})

test('a wait longer than allowed is left to the caller', async () => {
  const { baseUrl, seen } = await answering({ status: 429, headers: { 'retry-after': '60' }, body: failure(429, 'too many') })
  await expect(makeClient(contract, { baseUrl, retry: patient }).things.list()).rejects.toMatchObject({ retryAfterS: 60 })
  expect(seen).toHaveLength(1)
})

test('a create request is not retried unless the caller allows it', async () => {
  const { baseUrl, seen } = await answering({ status: 503, headers: { 'retry-after': '0' }, body: failure(503, 'starting') })
  const client = makeClient(contract, { baseUrl, retry: patient })
  await expect(client.things.create({ body: { name: 'n' } })).rejects.toThrow('starting')
  expect(seen).toHaveLength(1)
  await expect(client.things.create({ body: { name: 'n' }, repeatable: true })).rejects.toThrow('starting')
  expect(seen).toHaveLength(4)
})

test('retries can be disabled', async () => {
  const { baseUrl, seen } = await answering({ status: 503, headers: { 'retry-after': '0' }, body: failure(503, 'starting') })
  await expect(makeClient(contract, { baseUrl, retry: false }).things.list()).rejects.toThrow('starting')
  expect(seen).toHaveLength(1)
})

test('aborting during a wait ends the call', async () => {
  const { baseUrl } = await answering({ status: 503, headers: { 'retry-after': '20' }, body: failure(503, 'starting') })
  const giveUp = new AbortController()
  const call = makeClient(contract, { baseUrl, fetch: async (...ask) => fetch(...ask).finally(() => giveUp.abort(new Error('enough'))) })
  await expect(call.things.list({ signal: giveUp.signal })).rejects.toThrow('enough')
})

test('timeouts and redirects are no response', async () => {
  const { baseUrl } = await answering({ status: 302, headers: { location: 'http://127.0.0.1:1/' } })
  await expect(makeClient(contract, { baseUrl }).things.list()).rejects.toBeInstanceOf(NoResponse)
  await new Promise((resolve) => server?.close(resolve))
  await expect(makeClient(contract, { baseUrl }).things.list()).rejects.toThrow(/no answer from .*ECONNREFUSED/)
})

test('a missing path parameter never becomes another path', async () => {
  const { baseUrl, seen } = await answering({ status: 204 })
  await expect(makeClient(contract, { baseUrl }).things.remove({ params: { thingId: '' } })).rejects.toThrow('the path needs thingId')
  expect(seen).toEqual([])
})

test('the routes of a contract are plain data and enough for a client', async () => {
  const { baseUrl, seen } = await answering({ status: 200, body: '{"things":[]}' })
  const routes = JSON.parse(JSON.stringify(clientRoutes(contract)))
  expect(routes.things.text).toEqual({ method: 'GET', path: '/things.csv', media: 'text/csv' })
  await makeClient<typeof contract>(routes, { baseUrl }).things.list()
  expect(seen[0]?.url).toBe('/things')
})

test('calls outside the contract are compiler errors', () => {
  const client = makeClient(contract, { baseUrl: 'http://127.0.0.1:1' })
  // @ts-expect-error the body is required
  const withoutBody = () => client.things.create()
  // @ts-expect-error there is no such member
  const withStranger = () => client.things.create({ body: { nam: 'n' } })
  // @ts-expect-error the path has parameters
  const withoutParams = () => client.things.get()
  // @ts-expect-error there is no such verb
  expect(client.things.update).toBeUndefined()
  expect([withoutBody, withStranger, withoutParams]).toHaveLength(3)
})
