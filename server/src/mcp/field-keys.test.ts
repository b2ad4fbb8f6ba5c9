import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/world.ts'
import { type ConnectedAgent, connectAgent } from './agent.fixture.ts'
import { fieldKey, groupKeys } from './field-keys.ts'

/** Names of fields that the query language needs in quotes, and some that it does not. */
const EVENT: Readonly<Record<string, string>> = {
  message: 'odd',
  'user agent': 'curl',
  "it's": 'a quote',
  'x"y': 'two quotes',
  '1st': 'a digit',
  '-': 'a hyphen',
  AS: 'a keyword',
  'count(*)': 'an aggregate',
  über: 'a letter',
  'a.b': 'a dot',
  level: 'info',
}

let app: TestApp
let agent: ConnectedAgent
beforeAll(async () => {
  app = await openTestApp()
  const org = await app.newOrganization()
  const headers = { 'x-service-dataset': 'odd', 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw: JSON.stringify(EVENT), headers })).status).toBe(200)
  agent = await connectAgent(app.url, org.key)
})
afterAll(async () => {
  await agent?.close()
  await app?.close()
})

test.each(Object.entries(EVENT))('a field is named as list_fields names it: %s', async (name, value) => {
  const fields = await agent.tool('list_fields', { from: ['default.odd'] })
  expect(fields.text).toContain(JSON.stringify(name))
  const found = await agent.tool('search', { from: ['default.odd'], fields: [name] })
  expect(found.body.error).toBeUndefined()
  expect(found.body.untrusted_data?.events).toMatchObject([{ fields: { [name]: value } }])
  const counted = await agent.tool('count', { from: ['default.odd'], groups: [name] })
  expect(counted.body.untrusted_data?.rows).toEqual([{ group: { [name]: value }, value: 1 }])
  const charted = await agent.tool('chart', { from: ['default.odd'], groups: [name], points: 2 })
  expect(charted.body.untrusted_data?.series).toMatchObject([{ group: { [name]: value }, value: 1 }])
})

test('quotes around a name are not part of it, and a comma outside of them separates two fields', () => {
  expect(['level', '@dataset', '"user agent"', 'user agent', '"'].map(fieldKey)).toEqual([
    'level',
    '@dataset',
    '"user agent"',
    '"user agent"',
    '""""',
  ])
  expect(groupKeys(['level,@dataset', '"a,b"', 'a b'])).toEqual(['level,@dataset', '"a,b"', '"a b"'])
})
