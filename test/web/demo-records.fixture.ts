/** What the pictures of monitors, downtimes, dashboards and exports show, made of the demo data through the public API. */

/** Made are the ids that addresses of pages hold in braces. */
export type Made = Readonly<Record<string, string>>

const query = (dataset: string, more: object = {}) => ({ name: 'a', select: ['count(*)'], from: [dataset], where: '', ...more })

/** makeWatched keeps monitors, a downtime, a dashboard with every kind of widget and a frame, and orders exports. */
export async function makeWatched(url: string, key: string): Promise<Made> {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const make = async (path: string, body: object) => ((await ask('POST', path, body)) as { id: string }).id
  const { datasets } = (await ask('GET', '/datasets')) as { datasets: { id: string; dataset: string }[] }
  const of = (name: string) => datasets.find((one) => one.dataset === name)?.id ?? ''
  const [web, payments] = [of('web'), of('payments')]
  const actions = [{ email: 'oncall@example.org' }]
  const rule = { comparison_operator: 'ABOVE', threshold: 5, window: 'Last 1 hour', actions }
  const failing = query(web, { where: 'status >= 500', groups: ['path'] })
  const monitor = await make('/monitors', {
    ...rule,
    name: 'Pages that fail',
    description: 'Look at the till first.',
    warning_threshold: 3,
    queries: [failing],
    tags: { team: 'shop' },
  })
  const slow = query(web, { select: ['p95(duration_ms)'] })
  await make('/monitors', { ...rule, name: 'The shop is slow', threshold: 5_000, queries: [slow], tags: { team: 'shop' } })
  await make('/monitors', {
    ...rule,
    name: 'Payments are refused',
    threshold: 20,
    queries: [query(payments, { where: "level = 'error'" })],
    mute_until: -1,
  })
  await make('/monitors', {
    ...rule,
    name: 'Nothing is sold',
    comparison_operator: 'BELOW',
    threshold: 1,
    queries: [query(of('checkout'))],
  })
  const downtime = await make('/monitors/downtimes', {
    name: 'Nightly copies',
    description: 'The till is slow while it is copied',
    from: [monitor],
    dynamic_time_range: { from_minute_of_day: 120, to_minute_of_day: 180, repeat_days: ['Saturday', 'Sunday'] },
  })
  const metric = (name: string, ...queries: object[]) => make('/metrics/definitions', { name, queries })
  const byPath = await metric('Requests by page', query(web, { groups: ['path'] }))
  const slowness = await metric('How slow the shop is', slow)
  const failed = await metric('Failed requests', query(web, { where: 'status >= 500' }))
  const inner = [
    await make('/widgets', { name: 'Failed', type: 'score', metric_ids: [failed] }),
    await make('/widgets', { name: 'Slowness', type: 'score', metric_ids: [slowness] }),
  ]
  const widget_ids = [
    await make('/widgets', { name: 'Requests', type: 'bar', metric_ids: [byPath] }),
    await make('/widgets', { name: 'Slowness over time', type: 'line', metric_ids: [slowness] }),
    await make('/widgets', { name: 'Pages', type: 'pie', metric_ids: [byPath] }),
    await make('/widgets', { name: 'Most asked', type: 'top-list', metric_ids: [byPath] }),
    await make('/widgets', { name: 'As tiles', type: 'treemap', metric_ids: [byPath] }),
    await make('/widgets', { name: 'The shop at once', widget_ids: inner }),
  ]
  const dashboard = await make('/dashboards', { name: 'The shop', description: 'What it does in this hour', widget_ids })
  const template = await makeTemplates(make, web)
  const search_details = { from: [web], time_range: 'Last 1 day', where: 'status >= 500' }
  await ask('POST', '/exports', { search_details, format: 'csv', compression: 'gzip' })
  await ask('POST', '/exports', { search_details: { from: datasets.map(({ id }) => id), time_range: 'Last 1 hour' } })
  const trace = await sendTraces(ask)
  const notebook = await makeNotebook(make, payments)
  return {
    trace,
    notebook,
    monitor,
    downtime,
    dashboard,
    widget: widget_ids[0] ?? '',
    frame: widget_ids.at(-1) ?? '',
    web,
    metric: byPath,
    template,
  }
}

/** sendTraces sends requests of the shop, of which some are slow and some fail, and returns the id of the slowest. */
async function sendTraces(ask: (method: string, path: string, body: object) => Promise<unknown>): Promise<string> {
  const nowMs = Date.now()
  const id = (number: number, digits: number) => (number + 1).toString(16).padStart(digits, '0')
  const resourceSpans = Array.from({ length: 60 }, (_, number) => {
    const startMs = nowMs - 60_000 - number * 45_000
    const takesMs = 20 + ((number * number * 37) % 900) + (number % 19 === 7 ? 2_400 : 0)
    const span = (at: number, from: number, to: number, more: { name: string; parent?: number; isFailed?: boolean }) => ({
      traceId: id(number, 32),
      spanId: id(number * 10 + at, 16),
      name: more.name,
      startTimeUnixNano: `${startMs + Math.floor(takesMs * from)}000000`,
      endTimeUnixNano: `${startMs + Math.ceil(takesMs * to)}000000`,
      ...(more.parent === undefined ? {} : { parentSpanId: id(number * 10 + more.parent, 16) }),
      ...(more.isFailed ? { status: { code: 2, message: 'card refused' } } : {}),
    })
    const isFailed = number % 7 === 3
    const services = [
      [
        'shop',
        [
          span(0, 0, 1, { name: number % 3 === 0 ? 'POST /checkout' : 'GET /cart', isFailed }),
          span(1, 0.1, 0.2, { name: 'read cart', parent: 0 }),
        ],
      ],
      ['pay', [span(2, 0.25, 0.8, { name: 'charge', parent: 0, isFailed })]],
      ['store', [span(3, 0.3, 0.5, { name: 'select orders', parent: 2 }), span(4, 0.5, 0.7, { name: 'update orders', parent: 2 })]],
    ] as const
    return services.map(([service, spans]) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [{ spans }],
    }))
  }).flat()
  await ask('POST', '/v1/traces', { resourceSpans })
  return id(7, 32)
}

/** makeNotebook keeps an investigation with words in every form. */
async function makeNotebook(make: (path: string, body: object) => Promise<string>, payments: string): Promise<string> {
  const words =
    '## What is known\n\nThe bank **declines** some cards:\n\n- from the EU only\n- since `39` minutes\n\n| region | declined |\n| --- | --- |\n| eu | 40 |'
  await make('/notebooks', { name: 'The slow Tuesday', steps: [{ words: 'Nothing was found.' }] })
  return make('/notebooks', {
    name: 'Declined cards',
    description: 'Why customers call since noon',
    steps: [
      { title: 'Where it began', words, search_details: { from: payments, time_range: 'Last 1 hour', where: "level = 'error'" } },
      { words: 'Next: ask the bank, see [their page](https://status.example.org).' },
    ],
  })
}

/** makeTemplates keeps a template of a monitor, which leaves open what differs from page to page. */
async function makeTemplates(make: (path: string, body: object) => Promise<string>, web: string): Promise<string> {
  const metric = await make('/metrics/definitions/templates', {
    name: 'Failures of a page',
    description: 'Answers from 500 on',
    queries: [query(web, { where: "status >= 500 AND path = '{{path}}'" })],
    parameters: { path: { type: 'STRING', description: 'such as /cart' } },
  })
  return make('/monitors/templates', {
    name: 'The page {{path}} fails',
    comparison_operator: 'ABOVE',
    threshold: '{{threshold}}',
    window: 'Last 1 hour',
    actions: '[{"email":"{{email}}"}]',
    metric: { id: metric, arguments: { path: { input: 'path' } } },
    parameters: {
      path: { type: 'STRING', description: 'such as /cart' },
      threshold: { type: 'DOUBLE' },
      email: { type: 'STRING', description: 'the recipient' },
    },
    this_template_tags: {},
  })
}

const NOBODY = '00000000-0000-4000-8000-000000000000'

/** placed is an address with the ids in it; before anything is made they lead nowhere. */
export const placed = (path: string, made: Made): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(JSON.stringify(made[name] ?? NOBODY)))

export const watchedShots = [
  { name: 'one-monitor', path: '/app/monitors?id={monitor}' },
  { name: 'monitor-editor', path: '/app/monitors?edit={monitor}' },
  { name: 'monitor-groups', path: '/app/monitors?group=tags' },
  { name: 'monitor-templates', path: '/app/monitors?view=templates' },
  { name: 'monitor-template-form', path: '/app/monitors?view=templates&edit={template}' },
  { name: 'monitor-from-template', path: '/app/monitors?template={template}' },
  { name: 'downtimes', path: '/app/downtimes' },
  { name: 'insights', path: '/app/insights' },
  { name: 'downtime-editor', path: '/app/downtimes?edit={downtime}' },
  { name: 'one-dashboard', path: '/app/dashboards?id={dashboard}&before=true' },
  { name: 'widget-editor', path: '/app/dashboards?id={dashboard}&widget={widget}' },
  { name: 'frame-editor', path: '/app/dashboards?id={dashboard}&frame={frame}' },
  { name: 'notebooks', path: '/app/notebooks' },
  { name: 'one-notebook', path: '/app/notebooks?id={notebook}' },
  { name: 'metrics', path: '/app/dashboards?view=metrics' },
  { name: 'metric-editor', path: '/app/dashboards?view=metrics&metric={metric}' },
  { name: 'templates', path: '/app/dashboards?view=templates' },
  { name: 'usage-drilled', path: '/app/usage?dataset={web}' },
] as const
