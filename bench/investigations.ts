import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'

/**
 * Twelve investigations of the demo shop by the tools for agents, with the calls and bytes that each takes: node bench/investigations.ts
 * In the demo data a bank declines cards for six minutes, a quarter of an hour before the end. Each investigation must reach its conclusion.
 */
const root = resolve(import.meta.dirname, '..')
const MINUTE_MS = 60_000

type Answer = { summary: string; untrusted_data?: Record<string, unknown>; [name: string]: unknown }
type Rows = Record<string, unknown>[]
type Tool = (name: string, args?: Record<string, unknown>) => Promise<Answer>
type Investigation = { title: string; run(tool: Tool, incident: Incident): Promise<string> }
type Incident = { from_ts: number; to_ts: number }

const rowsOf = (answer: Answer, name: string): Rows => (answer.untrusted_data?.[name] ?? []) as Rows

/** Fails an investigation whose conclusion is not in the answers. */
function conclude(isReached: boolean, conclusion: string): string {
  if (!isReached) throw new Error(`the answers do not lead to: ${conclusion}`)
  return conclusion
}

const isDuring = (text: unknown, { from_ts, to_ts }: Incident): boolean => {
  const time = Date.parse(/\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(String(text))?.[0] ?? '')
  return time >= from_ts - 3 * MINUTE_MS && time <= to_ts
}

const oneError = async (tool: Tool): Promise<Record<string, unknown>> =>
  rowsOf(await tool('search', { from: ['shop.payments'], where: 'level = error', limit: 1 }), 'events')[0] ?? {}

const investigations: readonly Investigation[] = [
  {
    title: 'Which service has errors?',
    run: async (tool) => {
      await tool('list_datasets', { find: 'shop.' })
      const found = await tool('count', { where: 'level = error', groups: ['@dataset'] })
      const names = rowsOf(found, 'rows').map(({ group }) => (group as Record<string, string>)['@dataset'])
      return conclude(names.includes('payments') && names.includes('web'), 'web and payments')
    },
  },
  {
    title: 'When did payments begin to fail?',
    run: async (tool, incident) => {
      const chart = await tool('chart', { from: ['shop.payments'], where: 'level = error', points: 30 })
      return conclude(isDuring(chart.summary, incident), 'in the six minutes of the incident')
    },
  },
  {
    title: 'What do failing payments say?',
    run: async (tool) => {
      const [first] = rowsOf(await tool('patterns', { from: ['shop.payments'], where: 'level = error', limit: 5 }), 'patterns')
      const values = await tool('pattern_values', { from: ['shop.payments'], pattern: first?.pattern, limit: 3 })
      return conclude(JSON.stringify([first, values]).includes('bank did not answer'), 'the bank did not answer')
    },
  },
  {
    title: 'Is one provider to blame?',
    run: async (tool) => {
      await tool('list_fields', { from: ['shop.payments'], limit: 12 })
      const rows = rowsOf(await tool('count', { from: ['shop.payments'], where: 'level = error', groups: ['provider'] }), 'rows')
      return conclude(rows.length === 1 && JSON.stringify(rows).includes('northbank'), 'only northbank')
    },
  },
  {
    title: 'What changed in the web shop?',
    run: async (tool, incident) => {
      const found = await tool('compare_ranges', { from: ['shop.web'], ...incident })
      return conclude(JSON.stringify(rowsOf(found, 'findings')).includes('502'), 'status 502')
    },
  },
  {
    title: 'Which messages are new?',
    run: async (tool, incident) => {
      const found = await tool('new_patterns', { from: ['shop.payments'], ...incident, baseline_hours: 0.5 })
      return conclude(JSON.stringify(rowsOf(found, 'appeared')).includes('refused'), 'refused payments')
    },
  },
  {
    title: 'Why did this payment fail?',
    run: async (tool) => {
      const { event } = await oneError(tool)
      const { untrusted_data } = await tool('explain_error', { event })
      return conclude(JSON.stringify(untrusted_data).includes('northbank'), 'it went to northbank, as all that failed')
    },
  },
  {
    title: 'What happened around it?',
    run: async (tool) => {
      const { event } = await oneError(tool)
      const around = await tool('event_context', { event, from: ['shop.web', 'shop.checkout'], limit: 20 })
      const datasets = new Set(rowsOf(around, 'events').map(({ dataset }) => dataset))
      return conclude(datasets.size === 3, 'events of three datasets')
    },
  },
  {
    title: 'Where did the request go?',
    run: async (tool) => {
      const fields = await tool('search', { from: ['shop.payments'], where: 'level = error', fields: ['trace_id'], limit: 1 })
      const { trace_id } = (rowsOf(fields, 'events')[0]?.fields ?? {}) as Record<string, string>
      const trace = await tool('search', { where: `trace_id = '${trace_id}'`, oldest_first: true })
      const datasets = new Set(rowsOf(trace, 'events').map(({ dataset }) => dataset))
      return conclude(datasets.size === 3, 'through web, checkout and payments')
    },
  },
  {
    title: 'Is the shop slower, and where?',
    run: async (tool, incident) => {
      const chart = await tool('chart', { from: ['shop.web'], measure: 'p95(duration_ms)', points: 30 })
      const paths = await tool('count', { from: ['shop.web'], measure: 'p95(duration_ms)', groups: ['path'], ...incident })
      return conclude(isDuring(chart.summary, incident) && rowsOf(paths, 'rows').length > 3, 'every path, during the incident')
    },
  },
  {
    title: 'What does this data cost?',
    run: async (tool) => {
      const usage = await tool('usage', { kind: 'ingestion', time_range: 'Last 1 day' })
      const cost = await tool('query_cost', { from_expr: "collection = 'shop'", time_range: 'Last 1 day' })
      return conclude(Number(usage.bytes_total) > 0 && Number(cost.bytes_in_range) > 0, 'bytes by dataset, and of a query over a day')
    },
  },
  {
    title: 'Alert the next time',
    run: async (tool) => {
      const monitor = {
        name: 'Refused payments',
        comparison_operator: 'ABOVE',
        threshold: 5,
        window: 'Last 5 minutes',
        queries: [
          { name: 'errors', select: ['count(*)'], from_expr: "collection = 'shop'", where: "level = error AND provider = 'northbank'" },
        ],
        actions: [{ email: 'oncall@shop.example' }],
      }
      const { confirm } = await tool('create_monitor', monitor)
      const made = await tool('create_monitor', { ...monitor, confirm })
      return conclude(typeof made.monitor_id === 'string', 'a monitor, backtested before')
    },
  },
]

const dataDir = await newDataDir()
const service = await startService(dataDir)
try {
  const env = { ...process.env, DENDRO_URL: service.url, DENDRO_API_KEY: service.key }
  const endMs = Date.now()
  execFileSync(process.execPath, [join(root, 'cli/src/main.ts'), 'seed', 'shop'], { env, stdio: 'ignore' })
  await investigate({ from_ts: endMs - 21 * MINUTE_MS, to_ts: endMs - 15 * MINUTE_MS })
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}

async function investigate(incident: Incident): Promise<void> {
  const listed = await send('tools/list', {})
  const rows: string[][] = []
  const all = { calls: 0, sent: 0, read: 0 }
  for (const { title, run } of investigations) {
    const used: { tools: string[]; sent: number; read: number } = { tools: [], sent: 0, read: 0 }
    const tool: Tool = async (name, args = {}) => {
      const { content, isError } = (await send('tools/call', { name, arguments: args })).result
      const text = content?.[0]?.text ?? ''
      used.tools.push(name)
      used.sent += Buffer.byteLength(JSON.stringify(args))
      used.read += Buffer.byteLength(text)
      if (isError) throw new Error(`${name}: ${text}`)
      return JSON.parse(text) as Answer
    }
    const conclusion = await run(tool, incident)
    rows.push([title, conclusion, used.tools.join(', '), String(used.tools.length), String(used.sent), String(used.read)])
    all.calls += used.tools.length
    all.sent += used.sent
    all.read += used.read
  }
  rows.push(['All', '', '', String(all.calls), String(all.sent), String(all.read)])
  printTable(['investigation', 'conclusion', 'tools', 'calls', 'bytes sent', 'bytes read'], rows)
  const { tools } = listed.result
  process.stdout.write(`\nThe list of ${tools?.length} tools has ${Buffer.byteLength(JSON.stringify(tools))} bytes.\n`)
}

type Reply = { result: { tools?: unknown[]; content?: { text: string }[]; isError?: boolean } }

async function send(method: string, params: object): Promise<Reply> {
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  const response = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Reply
}
