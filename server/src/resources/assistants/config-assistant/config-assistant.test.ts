import type { AgentConfig, FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

type Answer = AgentConfig & FailureBody
const create = (body: object) =>
  org.ask<Answer>('POST', '/config-assistant/configs', { body: { agent: 'vector', sources: [{ kind: 'file' }], ...body } })
const modify = (body: object) => org.ask<Answer>('POST', '/config-assistant/configs/modify', { body: { agent: 'vector', ...body } })

test('a file is written for this deployment, kept, and read again', async () => {
  const made = await create({ collection: 'shop', dataset: 'web' })
  expect(made.status).toBe(201)
  expect(made.body.config).toContain(`${app.url}/ingest/shop/web`)
  expect(made.body.warnings.join()).toContain('without TLS')
  const { body: again } = await org.ask<AgentConfig>('GET', `/config-assistant/configs/${made.body.id}`)
  expect(again).toEqual(made.body)
  const other = await app.newOrganization()
  expect((await other.ask('GET', `/config-assistant/configs/${made.body.id}`)).status).toBe(404)
})

test('a file is changed with a diff, and one that cannot be read is refused', async () => {
  const { body: made } = await create({})
  const changed = await modify({ config: made.config, changes: { options: { drop: ['noise'] } } })
  expect(changed).toMatchObject({ status: 200, body: { agent: 'vector', format: 'yaml', warnings: expect.any(Array) } })
  expect(changed.body.diff).toContain('+  drop:')
  const refused = await modify({ config: 'sources: [' })
  expect(refused.status).toBe(400)
  expect(refused.body.details).toMatch(/^config cannot be read as a configuration of Vector: line 1/)
  const checked = await org.ask<{ valid: boolean; problems: { line?: number }[] }>('POST', '/config-assistant/configs/validate', {
    body: { agent: 'vector', config: 'sources: {}\nsinks:\n  a: {inputs: [b]}\n' },
  })
  expect(checked.body.valid).toBe(false)
  expect(checked.body.problems.every(({ line }) => line === 3)).toBe(true)
})

test('words are understood without a model as far as the vocabulary reaches, and 503 says where it ends', async () => {
  const made = await create({ sources: [], prompt: 'Read /srv/a.log, mask e-mails. Sing a song.' })
  expect(made.status).toBe(201)
  expect(made.body.config).toContain('/srv/a.log')
  expect(made.body.warnings).toContain('not understood, and left out: Sing a song')
  const nothing = await create({ prompt: 'Sing a song' })
  expect(nothing.status).toBe(503)
  expect(nothing.body.details).toContain('DENDRO_LLM_URL')
  expect((await create({ sources: [] })).status).toBe(400)
})

test.each<[string, object]>([
  ['an agent that nobody knows', { agent: 'abacus' }],
  ['an option that nobody knows', { options: { colour: 'red' } }],
  ['an expression that cannot be read', { options: { drop: ['('] } }],
  ['a name that belongs to the system', { collection: '.usage' }],
  ['a line break where a line is meant', { sources: [{ kind: 'file', options: { paths: ['/a\nb'] } }] }],
])('%s is refused', async (_, body) => {
  expect((await create(body)).status).toBe(400)
})

test('callers who only read may not use the assistant', async () => {
  for (const role of ['ReadOnly', 'Standard']) {
    const { token } = await org.newUser([role])
    expect((await org.ask('GET', '/config-assistant/agents', { token })).status, role).toBe(role === 'Standard' ? 200 : 403)
  }
})
