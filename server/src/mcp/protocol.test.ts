import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const client = { name: 'x', version: '1' }
const handshake = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: client }

test.each([
  ['initialize', undefined, 'params.protocolVersion is required; params.capabilities is required; params.clientInfo is required'],
  ['initialize', { ...handshake, protocolVersion: 1 }, 'params.protocolVersion must be text'],
  ['initialize', { ...handshake, clientInfo: { name: 'x' } }, 'params.clientInfo.version is required'],
  ['tools/call', undefined, 'params.name is required'],
  ['tools/call', { name: 'count', arguments: 'x' }, 'params.arguments must be an object'],
  ['tools/call', { name: 'count', arguments: ['x'] }, 'params.arguments must be an object'],
])('wrong parameters of %s are an error of the protocol that names them: %j', async (method, params, message) => {
  const { status, body } = await org.ask('POST', '/mcp', { body: { jsonrpc: '2.0', id: 'a', method, ...(params ? { params } : {}) } })
  expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 'a', error: { code: -32_602, message } }])
})

test('the handshake and a call without arguments are answered', async () => {
  for (const [method, params] of [
    ['initialize', handshake],
    ['tools/call', { name: 'count' }],
  ] as const) {
    const { status, body } = await org.ask<{ result?: object }>('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method, params } })
    expect([status, body.result]).toEqual([200, expect.any(Object)])
  }
})
