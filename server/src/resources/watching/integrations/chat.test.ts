import { randomUUID } from 'node:crypto'
import type { EmailTemplate, FailureBody, SlackIntegration, SlackWorkspace } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { Failure } from '../../../kernel/errors.ts'
import { sql } from '../../../meta/sql.ts'
import { checkActions, targetsOf } from './actions.ts'

let app: TestApp
let org: TestOrganization

beforeAll(async () => {
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' })
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app.close())

const post = <T>(path: string, body: object) => org.ask<T & FailureBody>('POST', path, { body })
const workspace = async (body: object = { token: 'a-very-secret-token' }) =>
  post<SlackWorkspace>('/integrations/slack/workspaces', { name: 'ours', ...body })
const chat = async (over: object = {}) =>
  post<SlackIntegration>('/integrations/slack', {
    name: 'on call',
    channels: ['#on-call', '#on-call', '#night'],
    workspace_id: (await workspace()).body.id,
    ...over,
  })

describe('chat', () => {
  test('a workspace is added by a token or a URL, listed without either, and forgotten', async () => {
    const [byToken, byUrl] = [await workspace(), await workspace({ webhook_url: 'https://chat.example.com/in/very-secret' })]
    expect([byToken.status, byToken.body.posts_by, byUrl.body.posts_by]).toEqual([201, 'TOKEN', 'WEBHOOK_URL'])
    const listed = await org.ask<{ slack_workspaces: SlackWorkspace[] }>('GET', '/integrations/slack/workspaces')
    expect(listed.body.slack_workspaces).toHaveLength(2)
    expect(listed.body.slack_workspaces).toEqual(expect.arrayContaining([byToken.body, byUrl.body]))
    expect(JSON.stringify(listed.body)).not.toContain('very-secret')
    expect((await org.ask('DELETE', `/integrations/slack/workspaces/${byUrl.body.id}`)).status).toBe(204)
    expect((await org.ask('DELETE', `/integrations/slack/workspaces/${byUrl.body.id}`)).status).toBe(404)
  })

  test('the secret of a workspace is stored encrypted and is in no audit record', async () => {
    await workspace()
    await workspace({ webhook_url: 'https://chat.example.com/in/very-secret' })
    const rows = await app.app.world.meta.all<{ text: string }>(sql`
      select coalesce(encode(token, 'escape'), '') || coalesce(encode(webhook_url, 'escape'), '') || chat_workspaces::text as text
        from chat_workspaces where org_id = ${org.orgId}
      union all select coalesce(before::text, '') || coalesce(after::text, '') from audit where org_id = ${org.orgId}`)
    expect(rows.length).toBeGreaterThan(3)
    for (const { text } of rows) expect(text).not.toContain('very-secret')
  })

  test.each([
    [{}, 'token'],
    [{ token: 'x', webhook_url: 'https://chat.example.com/in' }, 'token'],
    [{ token: 'two words' }, 'token'],
    [{ webhook_url: 'ftp://chat.example.com/in' }, 'webhook_url'],
    [{ webhook_url: 'http://169.254.169.254/in' }, 'webhook_url'],
    [{ token: 'x', api_url: 'http://10.0.0.1/api' }, 'api_url'],
    [{ webhook_url: 'https://chat.example.com/in', api_url: 'https://chat.example.com' }, 'api_url'],
    [{ token: 'x', name: '' }, 'name'],
  ])('a workspace with %j is refused and names %s', async (body, field) => {
    const { status, body: failure } = await workspace(body)
    expect([status, failure.errors?.[0]?.field]).toEqual([400, field])
  })

  test('an integration names channels of a workspace, each once; it is replaced and deleted', async () => {
    const made = await chat()
    expect([made.status, made.body.channels]).toEqual([201, ['#on-call', '#night']])
    const put = { name: 'day', channels: ['#day'], workspace_id: made.body.workspace_id }
    const replaced = await org.ask<SlackIntegration>('PUT', `/integrations/slack/${made.body.id}`, { body: put })
    expect(replaced.body).toMatchObject({ id: made.body.id, ...put })
    expect((await org.ask('GET', '/integrations/slack')).body).toEqual({ integrations: [replaced.body] })
    expect((await org.ask('DELETE', `/integrations/slack/${made.body.id}`)).status).toBe(204)
    expect((await org.ask('GET', '/integrations/slack')).body).toEqual({ integrations: [] })
  })

  test('an integration with an unknown workspace or without a recipient is rejected', async () => {
    expect((await chat({ workspace_id: randomUUID() })).body.errors?.[0]?.field).toBe('workspace_id')
    expect((await chat({ channels: [] })).status).toBe(400)
    const stranger = await app.newOrganization()
    const theirs = await stranger.ask<SlackWorkspace>('POST', '/integrations/slack/workspaces', { body: { name: 'w', token: 'x' } })
    expect((await chat({ workspace_id: theirs.body.id })).status).toBe(400)
  })

  test('a workspace that an integration names stays', async () => {
    const made = await chat()
    const refused = await org.ask<FailureBody>('DELETE', `/integrations/slack/workspaces/${made.body.workspace_id}`)
    expect([refused.status, refused.body.details]).toEqual([409, 'in use by the chat integration "on call"'])
    await org.ask('DELETE', `/integrations/slack/${made.body.id}`)
    expect((await org.ask('DELETE', `/integrations/slack/workspaces/${made.body.workspace_id}`)).status).toBe(204)
  })
})

describe('e-mail templates', () => {
  test('are created, listed, replaced and deleted', async () => {
    const made = await post<EmailTemplate>('/integrations/email', { name: 'short', payload: '$title' })
    expect(made.status).toBe(201)
    const put = { name: 'long', payload: '<p>$description</p>' }
    const replaced = await org.ask<EmailTemplate>('PUT', `/integrations/email/${made.body.id}`, { body: put })
    expect(replaced.body).toMatchObject({ id: made.body.id, ...put })
    expect((await org.ask('GET', '/integrations/email')).body).toEqual({ integrations: [replaced.body] })
    expect((await org.ask('DELETE', `/integrations/email/${made.body.id}`)).status).toBe(204)
    expect((await org.ask('DELETE', `/integrations/email/${made.body.id}`)).status).toBe(404)
  })

  test.each([{ name: 'x' }, { payload: 'x' }, { name: 'x', payload: 'y'.repeat(8193) }])('%j is refused', async (body) => {
    expect((await post('/integrations/email', body)).status).toBe(400)
  })
})

test('an action names a webhook, channels or, with an address, an e-mail template; nothing else and nothing of others', async () => {
  const { meta } = app.app.world
  const [hook, channels, mail] = [
    (await post<{ id: string }>('/integrations/webhooks', { name: 'hook', url: 'https://hooks.invalid/in' })).body.id,
    (await chat()).body.id,
    (await post<EmailTemplate>('/integrations/email', { name: 'mail', payload: '$title' })).body.id,
  ]
  const email = 'ada@example.org'
  const good = [
    { type: 'EMAIL', email },
    { type: 'EMAIL', email, integration_id: mail },
    { type: 'INTEGRATION', integration_id: hook.toUpperCase() },
    { type: 'INTEGRATION', integration_id: channels },
  ] as const
  await checkActions(meta, org.orgId, good)
  expect(await targetsOf(meta, org.orgId, good)).toEqual([
    { type: 'EMAIL', destination: email },
    { type: 'EMAIL', destination: email, integration_id: mail },
    { type: 'WEBHOOK', destination: 'hook', integration_id: hook },
    { type: 'SLACK', destination: '#on-call', integration_id: channels },
    { type: 'SLACK', destination: '#night', integration_id: channels },
  ])
  const gone = randomUUID()
  expect(await targetsOf(meta, org.orgId, [{ type: 'INTEGRATION', integration_id: gone }])).toEqual([
    { type: 'WEBHOOK', destination: gone, integration_id: gone },
  ])
  const bad = [
    [org.orgId, { type: 'EMAIL', email, integration_id: hook }],
    [org.orgId, { type: 'INTEGRATION', integration_id: mail }],
    [org.orgId, { type: 'INTEGRATION', integration_id: gone }],
    [org.orgId, { type: 'INTEGRATION', integration_id: 'no uuid' }],
    [(await app.newOrganization()).orgId, { type: 'INTEGRATION', integration_id: hook }],
  ] as const
  for (const [orgId, action] of bad) await expect(checkActions(meta, orgId, [action])).rejects.toThrow(Failure)
})
