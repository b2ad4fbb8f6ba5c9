import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from './support/world.ts'

type Listed = { id: string }
type ListReply = Record<string, Listed[]> & { next_cursor?: string; details?: string }

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const query = { name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error' }
const monitor = {
  comparison_operator: 'ABOVE',
  threshold: 1,
  window: 'Last 5 minutes',
  no_data_status: 'OK',
  actions: [{ email: 'oncall@example.org' }],
  queries: [query],
}
const search = { select: ['*'], from_expr: '*', where: 'level = error', time_range: 'Last 1 hour' }

const metricTemplate = (name: string): object => ({ name, description: '', queries: [query], parameters: {} })

/** Creates a record that others refer to, under a name of its own. */
async function idOf(path: string, body: object): Promise<string> {
  const { status, body: made } = await org.ask<Listed>('POST', path, { body: { ...body, name: randomUUID() } })
  expect(status).toBe(201)
  return made.id
}

type Kind = readonly [path: string, member: string, body: (name: string) => object | Promise<object>, orders: readonly string[]]
const kinds: readonly Kind[] = [
  [
    '/datasets',
    'datasets',
    (name) => ({ collection: 'paged', dataset: name }),
    ['sort=last_event', 'sort=volume_today', 'sort=volume_week'],
  ],
  // Before the monitors, each of which has a metric definition.
  ['/metrics/definitions', 'metric_definitions', (name) => ({ name, queries: [query] }), []],
  [
    '/monitors',
    'monitors',
    (name) => ({ ...monitor, name, tags: { team: name.slice(0, 1) } }),
    ['sort=severity', 'sort=last_trigger', 'group=status', 'group=dataset&sort=name', 'group=tags&sort=severity', 'muted=false'],
  ],
  ['/users', 'users', (name) => ({ first_name: name, last_name: 'Paged', email: `${name}@example.org`, roles: ['Standard'] }), []],
  ['/widgets', 'widgets', (name) => ({ name }), ['is_frame=false']],
  ['/dashboards', 'dashboards', (name) => ({ name, widget_ids: [] }), []],
  ['/saved-searches', 'saved_searches', (name) => ({ name, search_details: search }), []],
  ['/ingest-rules', 'ingest_rules', (name) => ({ name, from_expr: '*', action: { type: 'DROP' } }), ['sort=position']],
  ['/integrations/webhooks', 'integrations', (name) => ({ name, url: 'https://hooks.example.org/in' }), []],
  ['/integrations/slack/workspaces', 'slack_workspaces', (name) => ({ name, token: 'token-of-a-bot' }), []],
  [
    '/integrations/slack',
    'integrations',
    async (name) => ({ name, channels: ['#on-call'], workspace_id: await idOf('/integrations/slack/workspaces', { name, token: 'bot' }) }),
    [],
  ],
  ['/integrations/email', 'integrations', (name) => ({ name, payload: '$title' }), []],
  ['/dashboards/templates', 'templates', (name) => ({ name, widgets: [], this_template_tags: {} }), []],
  ['/widgets/templates', 'templates', (name) => ({ name }), []],
  ['/metrics/definitions/templates', 'templates', metricTemplate, []],
  [
    '/saved-searches/templates',
    'templates',
    (name) => ({ name, search_details: { from_expr: '*', where: 'level = error' }, this_template_tags: {} }),
    [],
  ],
  [
    '/monitors/templates',
    'templates',
    async (name) => ({
      name,
      comparison_operator: 'ABOVE',
      threshold: '1',
      window: 'Last 5 minutes',
      metric: { id: await idOf('/metrics/definitions/templates', metricTemplate(name)) },
      this_template_tags: {},
    }),
    [],
  ],
]

test.each(kinds)('%s is the same whole and in pages, in each order, and is searched', async (path, member, body, orders) => {
  const list = async (parameters = ''): Promise<ListReply> => (await org.ask<ListReply>('GET', `${path}${parameters}`)).body
  for (const name of ['fig', 'second', 'third', 'fourth', 'fifth']) {
    const made = await org.ask<{ details?: string }>('POST', path, { body: await body(name) })
    expect([made.status, made.body.details]).toEqual([201, undefined])
  }
  const whole = await list()
  expect(whole.next_cursor).toBe(undefined)
  const all = (whole[member] ?? []).map(({ id }) => id)
  expect(all.length).toBeGreaterThanOrEqual(5)
  for (const order of ['', 'sort=newest', 'sort=name', ...orders]) {
    const ids = ((await list(`?${order}`))[member] ?? []).map(({ id }) => id)
    expect(ids.toSorted()).toEqual(all.toSorted())
    const paged: string[] = []
    let page = await list(`?${order}&limit=2`)
    for (; page.next_cursor !== undefined; page = await list(`?${order}&limit=2&cursor=${page.next_cursor}`)) {
      expect(page[member]).toHaveLength(2)
      paged.push(...(page[member] ?? []).map(({ id }) => id))
    }
    paged.push(...(page[member] ?? []).map(({ id }) => id))
    expect([order, paged]).toEqual([order, ids])
  }
  const named = JSON.stringify((await list('?sort=name&search=fi'))[member])
  expect(named.indexOf('fifth')).toBeLessThan(named.indexOf('fig'))
  const found = await list('?search=FOURTH')
  expect(found[member]).toEqual((whole[member] ?? []).filter((one) => JSON.stringify(one).includes('fourth')))
  expect(found[member]).toHaveLength(1)
  const { next_cursor } = await list('?limit=2')
  for (const [parameters, field] of [
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?cursor=1.x', 'cursor'],
    ['?limit=2&cursor=x', 'cursor'],
    [`?limit=2&sort=name&cursor=${next_cursor}`, 'cursor'],
    ['?sort=color', 'sort'],
  ] as const) {
    const refused = await org.ask<ListReply>('GET', `${path}${parameters}`)
    expect([refused.status, refused.body.details]).toEqual([400, expect.stringContaining(field)])
  }
})
