import type { Monitor, MonitorEvaluation } from '@dendro/api'
import { type MonitorRules, type MonitorState, newState, transition } from '../server/src/resources/watching/alert-states/alert-states.ts'
import { cpuSecondsOf, untilQuiet } from './stand/process-tree.ts'
import { newDataDir, printTable, removeDataDir, startService } from './stand/service.ts'

/**
 * Measures what watching costs: node bench/monitors.ts [--events 2000000] [--monitors 1000] [--groups 10000] [--seconds 120]
 * Half of the events lie in the last hour, half in the 30 days before it, over 50 datasets.
 */
const given = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const EVENTS = given('events', 2_000_000)
const MONITORS = given('monitors', 1_000)
const GROUPS = given('groups', 10_000)
const SECONDS = given('seconds', 120)
const DATASETS = 50
const DAYS = 30
const BODY_LINES = 10_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WARM_MS = 90_000

const errors = { name: 'errors', select: ['count(*)'], from_expr: "collection = 'bench'", where: 'level = error' }
const actions = [{ email: 'oncall@example.org' }]
const plain = { comparison_operator: 'ABOVE', threshold: 1e9, window: 'Last 5 minutes', no_data_status: 'OK', actions, queries: [errors] }

const rows: string[][] = [['transition decisions in a second of processor time', '≥ 500 000', transitionsPerSecond().toLocaleString('en')]]
const dataDir = await newDataDir()
const service = await startService(dataDir)
try {
  await fill()
  await untilQuiet(service.pid)
  rows.push(...(await backtests()))
  rows.push(await manyGroups())
  rows.push(...(await manyMonitors()))
} finally {
  await service.stop()
  await removeDataDir(dataDir)
}
printTable(['what', 'aim', 'found'], rows)

function transitionsPerSecond(): number {
  const rules: MonitorRules = {
    operator: 'ABOVE',
    threshold: 10,
    warning: 5,
    noDataStatus: 'NO_DATA',
    grouped: true,
    notifyOnce: false,
    groupRetentionMs: 0,
  }
  const groups = Array.from({ length: 100 }, (_, index) => `region:${index}`)
  const evaluationsRun = Array.from({ length: 20 }, (_, evaluation) =>
    Object.fromEntries(groups.map((group, index) => [group, (index * 7 + evaluation * 3) % 16])),
  )
  const round = (count: number) => {
    let state: MonitorState = newState
    for (let at = 0; at < count; at += 1) {
      state = transition(
        state,
        { kind: 'values', values: evaluationsRun[at % evaluationsRun.length] ?? {} },
        rules,
        { muted: false },
        at * 60_000,
      ).state
    }
  }
  round(2_000)
  const before = process.cpuUsage()
  round(20_000)
  const { user, system } = process.cpuUsage(before)
  return Math.round((20_000 * groups.length) / ((user + system) / 1e6))
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-service-api-key': service.key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

async function fill(): Promise<void> {
  const nowMs = Date.now()
  for (let sent = 0; sent < EVENTS; sent += BODY_LINES) {
    const lines: string[] = []
    for (let line = sent; line < sent + BODY_LINES; line += 1) {
      // The order of times is that of the lines, as it is where events arrive: the old half first.
      const share = line / (EVENTS / 2)
      const agoMs = share < 1 ? HOUR_MS + (1 - share) * (DAYS * DAY_MS - HOUR_MS) : (2 - share) * HOUR_MS
      const fields = {
        level: line % 10 === 0 ? 'error' : 'info',
        host: `host-${(line * 7_919) % GROUPS}`,
        ms: (line * 31) % 997,
        region: `r${line % 8}`,
      }
      lines.push(
        JSON.stringify({ timestamp: new Date(nowMs - agoMs).toISOString(), ...fields, message: `request ${line} took ${line % 997} ms` }),
      )
    }
    const dataset = `d${(sent / BODY_LINES) % DATASETS}`
    const answer = await fetch(`${service.url}/ingest`, {
      method: 'POST',
      headers: {
        'x-service-api-key': service.key,
        'content-type': 'application/x-ndjson',
        'x-service-collection': 'bench',
        'x-service-dataset': dataset,
      },
      body: lines.join('\n'),
    })
    if (!answer.ok) throw new Error(`events were refused: ${answer.status} ${await answer.text()}`)
  }
}

async function backtests(): Promise<string[][]> {
  const cases: [string, object][] = [
    ['a window of 5 minutes', {}],
    ['a window of 1 day', { window: 'Last 1 day' }],
    ['8 groups, p95, 1 hour', { window: 'Last 1 hour', queries: [{ ...errors, where: '', select: ['p95(ms)'], groups: ['region'] }] }],
  ]
  const found: string[][] = []
  for (const [name, more] of cases) {
    const startedMs = performance.now()
    const { looks: count } = await ask<{ looks: number }>('POST', '/monitors/backtest', { ...plain, ...more, days: DAYS })
    found.push([
      `backtest of ${DAYS} days, ${name}`,
      '< 10 s',
      `${((performance.now() - startedMs) / 1_000).toFixed(1)} s (${count} evaluations)`,
    ])
  }
  return found
}

async function manyGroups(): Promise<string[]> {
  const queries = [{ ...errors, where: '', groups: ['host'] }]
  const startedMs = performance.now()
  const { id } = await ask<Monitor>('POST', '/monitors', { ...plain, name: 'groups', window: 'Last 1 hour', queries })
  const path = `/monitors/${id}/evaluations`
  for (;;) {
    const [evaluation] = (await ask<{ evaluations: MonitorEvaluation[] }>('GET', path)).evaluations
    if (evaluation) {
      const tookS = ((performance.now() - startedMs) / 1_000).toFixed(1)
      await fetch(`${service.url}/monitors/${id}`, { method: 'DELETE', headers: { 'x-service-api-key': service.key } })
      return [`first evaluation of a monitor with ${evaluation.groups_total} groups, from its creation`, '', `${tookS} s`]
    }
    await new Promise((done) => setTimeout(done, 100))
  }
}

/** Monitors with four windows and five queries over each dataset, evaluated once a minute. */
async function manyMonitors(): Promise<string[][]> {
  const windows = ['Last 5 minutes', 'Last 15 minutes', 'Last 30 minutes', 'Last 1 hour']
  const queries = [
    errors,
    { ...errors, where: '', select: ['avg(ms)'] },
    { ...errors, groups: ['region'] },
    { ...errors, where: '', select: ['p95(ms)'] },
    { ...errors, where: '', select: ['max(ms)'] },
  ]
  for (let index = 0; index < MONITORS; index += 1) {
    const one = { ...queries[index % queries.length], from_expr: `dataset = 'd${index % DATASETS}'` }
    const window = windows[Math.floor(index / queries.length) % windows.length]
    await ask('POST', '/monitors', { ...plain, name: `monitor ${index}`, window, queries: [one] })
  }
  await new Promise((done) => setTimeout(done, WARM_MS))
  const [before, startedMs] = [cpuSecondsOf(service.pid), performance.now()]
  await new Promise((done) => setTimeout(done, SECONDS * 1_000))
  const [after, tookS] = [cpuSecondsOf(service.pid), (performance.now() - startedMs) / 1_000]
  const share = (seconds: number) => `${((seconds / tookS) * 100).toFixed(0)} % of a core`
  const parts = [...after.byName].map(([name, seconds]) => `${name} ${share(seconds - (before.byName.get(name) ?? 0))}`)
  const gaps = await gapsBetweenEvaluations()
  return [
    [`${MONITORS} monitors over ${DATASETS} datasets, ${EVENTS / 1e6} M events`, '≤ 50 % of a core', share(after.total - before.total)],
    ['of that', '', parts.join(', ')],
    ['time between two evaluations of a monitor, of 100: median and most', '60 ± 15 s', gaps],
  ]
}

async function gapsBetweenEvaluations(): Promise<string> {
  const { monitors } = await ask<{ monitors: Monitor[] }>('GET', '/monitors')
  const gaps: number[] = []
  for (const { id } of monitors.slice(0, 100)) {
    const { evaluations } = await ask<{ evaluations: MonitorEvaluation[] }>('GET', `/monitors/${id}/evaluations?limit=3`)
    evaluations.slice(1).forEach((evaluation, index) => {
      gaps.push((evaluations[index]?.time ?? 0) - evaluation.time)
    })
  }
  gaps.sort((a, b) => a - b)
  return `${((gaps[gaps.length >> 1] ?? 0) / 1_000).toFixed(1)} s, ${((gaps.at(-1) ?? 0) / 1_000).toFixed(1)} s`
}
