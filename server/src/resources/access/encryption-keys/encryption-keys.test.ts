import type { EncryptionKey, FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const ARN = 'arn:aws:kms:eu-west-1:123456789012:alias/logs'
const create = (body: object) =>
  org.ask<EncryptionKey & FailureBody>('POST', '/encryption-keys', {
    body: { name: 'Logs', provider: 'AWS_KMS', aws_kms: { alias_arn: ARN }, ...body },
  })
const change = (id: string, body: object) => org.ask<EncryptionKey>('PATCH', `/encryption-keys/${id}`, { body })

test('a key is recorded as CREATED with the region of its ARN, made ACTIVE once, and then stays', async () => {
  const made = await create({ id: 'logs-1' })
  expect(made).toMatchObject({
    status: 201,
    body: { id: 'logs-1', org_id: org.orgId, status: 'CREATED', aws_kms: { alias_arn: ARN, region: 'eu-west-1' } },
  })
  expect((await create({ id: 'logs-1' })).status).toBe(409)
  for (const status of ['DISABLED', 'KEY_STATUS_UNSPECIFIED']) expect((await change('logs-1', { status })).status, status).toBe(400)
  expect(await change('logs-1', { name: 'All logs', status: 'ACTIVE' })).toMatchObject({
    status: 200,
    body: { name: 'All logs', status: 'ACTIVE' },
  })
  expect((await change('logs-1', { status: 'CREATED' })).status).toBe(400)
  expect((await org.ask('DELETE', '/encryption-keys/logs-1')).status).toBe(403)
  expect((await org.ask('GET', '/encryption-keys/logs-1')).status).toBe(200)
})

test('keys are listed newest first up to the limit, and can be deleted while unused', async () => {
  const ids = [(await create({ id: 'a' })).body.id, (await create({ id: 'b' })).body.id]
  const { keys } = (await org.ask<{ keys: EncryptionKey[] }>('GET', '/encryption-keys?provider=AWS_KMS&limit=2')).body
  expect(keys.map(({ id }) => id).sort()).toEqual(ids)
  for (const query of ['limit=101', 'limit=0', 'provider=LOCAL'])
    expect((await org.ask('GET', `/encryption-keys?${query}`)).status).toBe(400)
  expect((await org.ask('DELETE', '/encryption-keys/a')).status).toBe(204)
  expect((await org.ask('DELETE', '/encryption-keys/a')).status).toBe(404)
})

test.each(['encryption-keys', 'dashboards', 'exports'])('an id of any form in /%s is one that does not exist', async (path) => {
  for (const id of ['x', 'x'.repeat(3_000), '%00', 'a%2Fb']) expect((await org.ask('GET', `/${path}/${id}`)).status, id).toBe(404)
})

test.each<[string, object]>([
  ['another provider', { provider: 'LOCAL' }],
  ['no ARN', { aws_kms: {} }],
  ['an ARN of something else', { aws_kms: { alias_arn: 'arn:aws:s3:::bucket' } }],
  ['no name', { name: '' }],
])('%s is refused', async (_, body) => {
  expect((await create(body)).status).toBe(400)
})

test('the customer record has the name of the organization until it is changed, and shows no other organization', async () => {
  const first = await org.ask<{ customer_name: string; organisations: { org_id: string }[] }>('GET', '/customer')
  const { body: own } = await org.ask<{ name: string }>('GET', `/organizations/${org.orgId}`)
  expect(first.body).toMatchObject({ customer_name: own.name, billing_emails: [], contract_type: 'PAID' })
  expect(first.body.organisations.map(({ org_id }) => org_id)).toEqual([org.orgId])
  const next = { customer_name: 'Kestrel Ltd', billing_emails: ['bills@example.org'] }
  expect(await org.ask('PATCH', '/customer', { body: next })).toMatchObject({ status: 200, body: next })
  expect((await org.ask('GET', '/customer')).body).toMatchObject(next)
  expect((await org.ask('PATCH', '/customer', { body: { ...next, billing_emails: ['nobody'] } })).status).toBe(400)
  const everybody = await app.ask<{ organisations: { org_id: string }[] }>('GET', '/customer', { key: app.managementKey })
  expect(everybody.body.organisations.map(({ org_id }) => org_id)).toContain(org.orgId)
  const standard = await org.newUser(['Standard'])
  expect((await org.ask('GET', '/customer', { token: standard.token })).status).toBe(403)
})

test('statements are replaced by project and version, and list the records that refer to them', async () => {
  const [id, gone] = ['00f1e2d3c4b5a697', '1111111111111111']
  const line = { message: 'paid {} in {}', file: 'src/till.ts', line: 7 }
  const set = { project_id: 'till', repo_url: 'https://code.invalid/till', version: '1.0' }
  const send = (version: string, ids: string[]) =>
    org.ask<{ count: number }>('POST', '/statements', { body: { ...set, version, statements: ids.map((one) => ({ ...line, id: one })) } })
  expect(await send('1.0', [id, gone])).toMatchObject({ status: 201, body: { count: 2 } })
  expect(await send('1.0', [id.toUpperCase()])).toMatchObject({ status: 200, body: { count: 1 } })
  expect(await send('2.0', [])).toMatchObject({ status: 201, body: { count: 0 } })
  expect((await send('3.0', [id, id])).status).toBe(400)
  const listed = (query: string) => org.ask<{ statements: { id: string }[] }>('GET', `/statements?${query}`)
  expect((await listed('project_id=till')).body.statements).toEqual([])
  expect((await listed('project_id=till&version=1.0')).body.statements).toEqual([{ ...line, id }])
  for (const query of ['project_id=none', 'project_id=till&version=9']) expect((await listed(query)).status).toBe(404)
  expect((await listed('')).status).toBe(400)
  const search = { name: 'Payments', search_details: { from_expr: '*', where: `statement = '${id}'` } }
  await org.ask('POST', '/saved-searches', { body: search })
  expect(await org.ask('GET', `/statements/${id}`)).toMatchObject({
    status: 200,
    body: { ...line, id, ...set, references: [{ entity_type: 'savedSearch', name: 'Payments', ...line, id }] },
  })
  expect((await org.ask('GET', `/statements/${gone}`)).status).toBe(404)
  const other = await app.newOrganization()
  expect((await other.ask('GET', `/statements/${id}`)).status).toBe(404)
})
