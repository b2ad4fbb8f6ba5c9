import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openPool } from '../server/src/meta/driver.ts'
import { socketDirOf, socketUrl } from '../server/src/meta/socket.ts'
import { browserPath, openBrowser } from '../test/web/browser.fixture.ts'
import { cpuSecondsOf, ownCpuUs, peakMbOf, residentOf } from './stand/process-tree.ts'
import { median, newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'
import { measureFirstScreens } from './web/first-screens.ts'

/**
 * Measures an organization with much metadata: lists, the first screens of the pages with long lists, queries over all datasets, logins at once, monitors,
 * memory. `--only screens` leaves all but these screens out.
 * node bench/metadata.ts [--records 10000] [--dashboards 2000] [--logins 200] [--seconds 120] [--only screens]
 * The records are copies of a few that the API made; each dataset has an event of its own.
 */
const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '10000' },
    dashboards: { type: 'string', default: '2000' },
    logins: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '120' },
    only: { type: 'string' },
  },
})
const [RECORDS, DASHBOARDS, LOGINS, SECONDS] = [options.records, options.dashboards, options.logins, options.seconds].map(Number) as [
  number,
  number,
  number,
  number,
]
const LATER_ROUNDS = 5
const POST_EVENTS = 500
/** Rows copied by one statement, so that none reaches the time limit of a statement on a loaded machine. */
const COPIES = 250
const ALL = { from_expr: '*' }
const HOUR = { time_range: 'Last 1 hour' }
const PASSWORD = 'seventeen otters in a canoe'
const emailOf = (n: number): string => `user${n}@example.org`

type Timed = { ms: number; cpuMs: number; bytes: number; status: number }

const dataDir = await newDataDir()
const service = await startService(dataDir)
const database = openPool({ connectionString: socketUrl(socketDirOf(join(dataDir, 'meta'))) }, 1)
try {
  const idle = memory()
  const made = await fill()
  const filled = memory()
  process.stdout.write(`node bench/metadata.ts ${process.argv.slice(2).join(' ')}\n\n`)
  if (browserPath !== undefined) await screens()
  if (options.only !== 'screens') await measureRest(made, { idle, filled })
} finally {
  await database.end()
  await service.stop()
  await removeDataDir(dataDir)
}

async function screens(): Promise<void> {
  const browser = await openBrowser()
  try {
    printTable(['page', 'first record, ms', 'requests', 'answers KB', 'on the wire KB'], await measureFirstScreens(browser, service))
    process.stdout.write('\n')
  } finally {
    await browser.close()
  }
}

async function measureRest(
  made: { dashboard: string; dataset: string },
  { idle, filled }: { idle: string; filled: string },
): Promise<void> {
  const rows = await requests(made)
  const afterRequests = memory()
  const logins = await loginsAtOnce()
  const monitors = await evaluations()
  const columns = [
    'request',
    'first ms',
    'first CPU ms',
    `later ms (median of ${LATER_ROUNDS})`,
    'later CPU ms',
    'answer KB',
    'memory after, MB',
  ]
  printTable(columns, rows)
  process.stdout.write('\n')
  printTable(
    ['what', 'found'],
    [
      ...logins,
      ...monitors,
      ['memory of the service, MB', `${idle} empty, ${filled} filled, ${afterRequests} after the requests, ${memory()} at the end`],
      ['its peak of resident memory, MB', peakMbOf(service.pid).toFixed(0)],
    ],
  )
}

function memory(): string {
  const own = residentOf(service.pid).find(({ name }) => name === 'main.ts')
  return (own?.mb ?? 0).toFixed(0)
}

async function ask<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-service-api-key': service.key, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** Copies a row with other values of some columns: `changes` is an expression of jsonb over the number `n` from 1. */
async function copies(table: string, id: string, count: number, changes: string, key = 'id'): Promise<void> {
  for (let first = 1; first <= count; first += COPIES) {
    await database.query(
      `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || ${changes})).*
       from ${table} t, generate_series(${first}, ${Math.min(count, first + COPIES - 1)}) n where t.${key} = $1`,
      [id],
    )
  }
}

/** A stable id for the nth copy of a kind. */
function idOf(kind: string): string {
  return `md5('${kind} ' || n)::uuid`
}

async function fill(): Promise<{ dashboard: string; dataset: string }> {
  const dataset = await ask<{ id: string }>('POST', '/datasets', { collection: 'default', dataset: 'set 0' })
  await copies('datasets', dataset.id, RECORDS - 1, `jsonb_build_object('id', ${idOf('dataset')}, 'dataset', 'set ' || n)`)
  const user = await ask<{ id: string; invitation_url: string }>('POST', '/users', {
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: emailOf(0),
    roles: ['Standard'],
  })
  await ask('POST', '/auth/accept-invite', { token: new URL(user.invitation_url).searchParams.get('token'), password: PASSWORD })
  await copies(
    'users',
    user.id,
    RECORDS - 1,
    `jsonb_build_object('id', ${idOf('user')}, 'email', 'user' || n || '@example.org', 'email_key', 'user' || n || '@example.org')`,
  )
  await sendEvents()
  const monitor = await ask<{ id: string; metric_id: string }>('POST', '/monitors', {
    name: 'Errors 0',
    comparison_operator: 'ABOVE',
    threshold: 1e9,
    window: 'Last 5 minutes',
    no_data_status: 'OK',
    actions: [{ email: 'oncall@example.org' }],
    queries: [{ name: 'errors', select: ['count(*)'], from: [dataset.id], where: 'level = error' }],
  })
  // They are not evaluated while the requests are measured.
  const inAnHour = '(extract(epoch from now()) * 1000)::bigint + 3600000'
  await copies(
    'metric_definitions',
    monitor.metric_id,
    RECORDS - 1,
    `jsonb_build_object('id', ${idOf('metric')}, 'queries', jsonb_set(queries, '{0,from}', jsonb_build_array(${idOf('dataset')})))`,
  )
  await copies(
    'monitors',
    monitor.id,
    RECORDS - 1,
    `jsonb_build_object('id', ${idOf('monitor')}, 'metric_id', ${idOf('metric')}, 'name', 'Errors ' || n)`,
  )
  await copies(
    'monitor_states',
    monitor.id,
    RECORDS - 1,
    `jsonb_build_object('monitor_id', ${idOf('monitor')}, 'holder', ${idOf('holder')}, 'lease_ms', 3600000, 'lease_until_ms', ${inAnHour})`,
    'monitor_id',
  )
  const widget = await ask<{ id: string }>('POST', '/widgets', { name: 'Events', metric_ids: [monitor.metric_id] })
  const dashboard = await ask<{ id: string }>('POST', '/dashboards', { name: 'Board 0', widget_ids: [widget.id] })
  await copies('widgets', widget.id, DASHBOARDS - 1, `jsonb_build_object('id', ${idOf('widget')})`)
  await copies(
    'dashboards',
    dashboard.id,
    DASHBOARDS - 1,
    `jsonb_build_object('id', ${idOf('dashboard')}, 'name', 'Board ' || n, 'widget_ids', jsonb_build_array(${idOf('widget')}))`,
  )
  return { dashboard: dashboard.id, dataset: dataset.id }
}

/** Sends an event to each dataset, many in a post. */
async function sendEvents(): Promise<void> {
  for (let first = 0; first < RECORDS; first += POST_EVENTS) {
    const numbers = Array.from({ length: Math.min(POST_EVENTS, RECORDS - first) }, (_, index) => first + index)
    const lines = numbers.map(
      (n) =>
        `{"create":{"_index":"set ${n}"}}\n${JSON.stringify({ message: `event of set ${n}`, level: n % 10 === 0 ? 'error' : 'info', n })}\n`,
    )
    await ask('POST', '/_bulk', lines.join(''), { 'content-type': 'application/x-ndjson' })
  }
}

type Request = [what: string, method: string, path: string, body?: unknown]

async function requests({ dashboard, dataset }: { dashboard: string; dataset: string }): Promise<string[][]> {
  const count = { select: ['count(*)'], ...ALL, ...HOUR, num_of_slices: 60 }
  const requested: Request[] = [
    ['the datasets', 'GET', '/datasets'],
    ['the collections', 'GET', '/collections'],
    ['the users', 'GET', '/users'],
    ['the monitors', 'GET', '/monitors'],
    ['a page of the monitors by severity, with totals', 'GET', '/monitors?limit=100&sort=severity&totals=true'],
    ['the same by dataset', 'GET', '/monitors?limit=100&sort=severity&totals=true&group=dataset'],
    ['a page of the datasets by name, with totals', 'GET', '/datasets?limit=100&sort=name&totals=true'],
    ['a page of the datasets by volume', 'GET', '/datasets?limit=100&sort=volume_week'],
    ['the monitors of a dataset', 'GET', `/monitors?log_id=${dataset}`],
    ['the metric definitions', 'GET', ''],
    ['the dashboards', 'GET', '/dashboards'],
    ['the dashboards of a dataset', 'GET', `/dashboards?log_id=${dataset}`],
    ['one dashboard', 'GET', `/dashboards/${dashboard}`],
    ['newest events of all datasets', 'POST', '/search', { select: ['*'], ...ALL, ...HOUR, limit: 100 }],
    ['a filter over all datasets', 'POST', '/search', { select: ['*'], ...ALL, ...HOUR, where: 'n = 4321', limit: 100 }],
    ['the histogram of all datasets', 'POST', '/search', count],
    ['groups of all datasets', 'POST', '/search', { ...count, groups: ['level'] }],
    [
      'time series of all datasets',
      'POST',
      '/timeseries/search',
      { time_range: { natural: 'Last 1 hour' }, queries: [{ name: 'all', select: ['count(*)'], ...ALL }] },
    ],
    ['frequent keys of all datasets', 'GET', '/top-keys'],
    ['patterns of all datasets', 'POST', '/patterns', { search_details: { ...ALL, ...HOUR } }],
    ['the start of a tail of all datasets', 'POST', '/live-tail', ALL],
    ['the overview of usage', 'GET', '/usage'],
    ['the ledger', 'GET', '/ledger'],
  ]
  const rows: string[][] = []
  for (const [what, ...request] of requested) {
    const first = await timed(...request)
    const later: Timed[] = []
    for (let round = 0; round < LATER_ROUNDS; round += 1) later.push(await timed(...request))
    rows.push(rowOf(what, first, later))
  }
  const afterChange: Timed[] = []
  for (let round = 0; round < LATER_ROUNDS; round += 1) {
    await ask('POST', '/datasets', { collection: 'default', dataset: `new ${round}` })
    afterChange.push(await timed('POST', '/search', { ...count, where: `n = ${round}` }))
  }
  rows.push(rowOf('a histogram of all datasets after one was added', afterChange[0], afterChange))
  return rows
}

function rowOf(what: string, first: Timed | undefined, later: readonly Timed[]): string[] {
  return [
    (first?.status ?? 500) < 300 ? what : `${what} (status ${first?.status})`,
    (first?.ms ?? 0).toFixed(0),
    (first?.cpuMs ?? 0).toFixed(0),
    median(later.map(({ ms }) => ms)).toFixed(0),
    median(later.map(({ cpuMs }) => cpuMs)).toFixed(0),
    ((first?.bytes ?? 0) / 1_000).toFixed(0),
    memory(),
  ]
}

/** CPU time is that of all processes of the service; the system counts it in steps of 10 ms. */
async function timed(method: string, path: string, body?: unknown): Promise<Timed> {
  const [cpu, startedMs] = [cpuSecondsOf(service.pid).total, performance.now()]
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-service-api-key': service.key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const bytes = (await answer.arrayBuffer()).byteLength
  return { ms: performance.now() - startedMs, cpuMs: (cpuSecondsOf(service.pid).total - cpu) * 1_000, bytes, status: answer.status }
}

/** People who log in within the same second, each with a first page. */
async function loginsAtOnce(): Promise<string[][]> {
  const cpuUs = ownCpuUs(service.pid)
  const startedMs = performance.now()
  const answers = await Promise.all(
    Array.from({ length: LOGINS }, async (_, n) => {
      const answer = await fetch(`${service.url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: emailOf(n), password: PASSWORD }),
      })
      await answer.text()
      return { status: answer.status, ms: performance.now() - startedMs }
    }),
  )
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b)
  return [
    [`${LOGINS} logins at once, answered 200`, String(answers.filter(({ status }) => status === 200).length)],
    ['median and last, s', `${(median(times) / 1_000).toFixed(1)}, ${((times.at(-1) ?? 0) / 1_000).toFixed(1)}`],
    ['CPU s of the service', ((ownCpuUs(service.pid) - cpuUs) / 1e6).toFixed(1)],
  ]
}

/** Lets the monitors run for a while, and compares the times of their evaluations. */
async function evaluations(): Promise<string[][]> {
  const nowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
  await database.query(
    `update monitor_states set missed = 0, holder = null, lease_until_ms = null, due_at = ${nowMs} + (random() * 60000)::bigint`,
  )
  const cpu = cpuSecondsOf(service.pid)
  await new Promise((done) => setTimeout(done, SECONDS * 1_000))
  const { total, byName } = cpuSecondsOf(service.pid)
  const { rows } = await database.query<{ evaluations: string; monitors: string; late_ms: string; missed: string; failed: string }>(
    `select count(*) as evaluations, count(distinct monitor_id) as monitors, count(*) filter (where record ? 'failure') as failed,
       (select max((extract(epoch from clock_timestamp()) * 1000)::bigint - due_at) from monitor_states) as late_ms,
       (select sum(missed) from monitor_states) as missed
     from monitor_evaluations where time > (extract(epoch from clock_timestamp()) * 1000)::bigint - ${SECONDS * 1_000}`,
  )
  const [found] = rows
  const share = (seconds: number): string => ((100 * seconds) / SECONDS).toFixed(0)
  return [
    [
      `evaluations in ${SECONDS} s`,
      `${found?.evaluations} of ${found?.monitors} monitors, ${found?.failed} failed, ${found?.missed} missed`,
    ],
    ['the monitor that is most overdue, s', (Math.max(0, Number(found?.late_ms)) / 1_000).toFixed(1)],
    [
      'share of a core meanwhile, %',
      `${share(total - cpu.total)} (${[...byName].map(([name, seconds]) => `${name} ${share(seconds - (cpu.byName.get(name) ?? 0))}`).join(', ')})`,
    ],
  ]
}
