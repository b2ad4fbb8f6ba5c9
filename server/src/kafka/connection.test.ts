import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllowList } from '../outgoing/addresses.ts'
import { DeliveryError, openOutgoing } from '../outgoing/outgoing.ts'
import { kafkaOptions, kafkaTrouble, loadKafka } from './connection.ts'

/** Stands for a broker, or for something else that must get nothing. */
let server: Server
let port = 0
let bytes = 0

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('data', (data) => {
      bytes += data.length
    })
    socket.on('error', () => undefined)
  }).listen(0)
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => server.close())

async function connect(host: string, allowed: string): Promise<unknown> {
  const { Admin } = await loadKafka()
  const outgoing = openOutgoing({ allowed: parseAllowList(allowed), ownPorts: () => [] })
  // As if a broker that may be reached had named this one.
  const options = {
    ...(await kafkaOptions(outgoing, { brokers: [], tls: false })),
    bootstrapBrokers: [`${host}:${port}`],
    retries: 0,
    connectTimeout: 3_000,
  }
  const admin = new Admin({ ...options, requestTimeout: 1_000 })
  return admin
    .listTopics()
    .catch(kafkaTrouble)
    .finally(() => admin.close().catch(() => undefined))
}

test('a broker at an address that is not allowed gets no byte', async () => {
  expect(await connect('127.0.0.1', '')).toMatchObject({ message: expect.stringContaining('is not a public address') })
  expect(bytes).toBe(0)
})

test('a broker whose name leads to such an address gets no byte', async () => {
  const refused = await connect(hostname(), '')
  expect(refused).toBeInstanceOf(DeliveryError)
  expect(bytes).toBe(0)
})

test('a broker at an allowed address gets a request', async () => {
  await connect('127.0.0.1', '127.0.0.1')
  expect(bytes).toBeGreaterThan(0)
})
