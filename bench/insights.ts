import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { Insight } from '@dendro/api'
import { systemClock } from '../server/src/kernel/clock.ts'
import { systemIds } from '../server/src/kernel/ids.ts'
import { openLogger } from '../server/src/kernel/log.ts'
import { type Meta, openMeta } from '../server/src/meta/meta.ts'
import { json, sql } from '../server/src/meta/sql.ts'
import { addMinutes } from '../server/src/meta/usage-counts.ts'
import {
  updateKeys,
  updatePatternsKnown,
  updateQueried,
  upsertHours,
  upsertPatterns,
  upsertSenders,
} from '../server/src/resources/watching/insights/counter-rows.ts'
import { evaluateOrganization } from '../server/src/resources/watching/insights/evaluate.ts'
import { selectInsights } from '../server/src/resources/watching/insights/rows.ts'
import {
  type Cause,
  DATASETS,
  DAY_MS,
  END_MS,
  HISTORY_DAYS,
  HOUR_MS,
  plantCauses,
  rhythms,
  START_MS,
  seeded,
  simulateHour,
  WATCHED_DAYS,
  WATCHED_MS,
} from './insights/insight-scenarios.ts'
import { newDataDir, printTable, removeDataDir } from './stand/service.ts'

/** Insights: which planted causes are found, and what is found where nothing is planted. */
const USAGE = `node bench/insights.ts [--seeds N]
  --seeds  how many simulated organizations with causes, and as many without (2)

Each organization has ${DATASETS} datasets of ${rhythms.length} rhythms with ${HISTORY_DAYS} days of hourly counts and is evaluated for ${WATCHED_DAYS} days, hour by hour,
with the metadata store and the statements of the service. The counts are simulated; server/src/resources/watching/insights/insights.test.ts counts real events.`

const { values: options } = parseArgs({ options: { seeds: { type: 'string', default: '2' }, help: { type: 'boolean', default: false } } })

type Found = { name: Insight['name']; subject: string; entityId: string; atMs: number }
/** A cause that is found later than this is missed. */
const FOUND_WITHIN_MS = 2 * DAY_MS
const MONITORS = 5

type Simulated = { readonly orgId: string; readonly logIds: readonly string[]; readonly senderId: string }

async function createOrganization(meta: Meta, causes: readonly Cause[]): Promise<Simulated> {
  const orgId = randomUUID()
  const logIds = Array.from({ length: DATASETS }, () => randomUUID())
  await meta.run(sql`insert into organisations (id, name, created_at, modified_at) values (${orgId}, ${orgId}, ${START_MS}, ${START_MS})`)
  const datasets = logIds.map((id, index) => ({ id, dataset: `dataset-${index}` }))
  await meta.run(sql`
    insert into datasets (org_id, id, collection, dataset, is_system_generated, tags, created_at, modified_at)
    select ${orgId}::uuid, id, 'bench', dataset, false, '{}', ${START_MS - 60 * DAY_MS}::bigint, ${START_MS - 60 * DAY_MS}::bigint
    from jsonb_to_recordset(${json(datasets)}) as given (id uuid, dataset text)`)
  await setKeys(meta, orgId, logIds, () => 20)
  await createMonitors(meta, orgId, causes.length > 0)
  return { orgId, logIds, senderId: randomUUID() }
}

/** Sets the number of keys of datasets. */
async function setKeys(meta: Meta, orgId: string, logIds: readonly string[], keysOf: (logId: string) => number): Promise<void> {
  for (const logId of logIds) {
    await meta.run(sql`
      insert into slot_maps (org_id, log_id, version, table_classes, periods) values (${orgId}, ${logId}, 1, '{}', '{}')
      on conflict (log_id) do update set version = slot_maps.version + 1`)
    await meta.run(sql`
      insert into slots (org_id, log_id, path, slot, version)
      select ${orgId}::uuid, ${logId}::uuid, 'key_' || at, 's' || at, 1 from generate_series(1, ${keysOf(logId)}::int) as at on conflict do nothing`)
  }
}

/** Monitors that alert now and then, and with causes those that never or always do. */
async function createMonitors(meta: Meta, orgId: string, hasIdle: boolean): Promise<void> {
  const create = async (name: string, { status, last, alerts }: { status: string; last: number | null; alerts: readonly number[] }) => {
    const id = randomUUID()
    await meta.run(sql`
      insert into monitors (org_id, id, name, type, comparison_operator, threshold, time_window, actions, notify_once, ai_report_enabled, metric_id, tags,
        created_at, modified_at)
      values (${orgId}, ${id}, ${name}, 'PATTERN', 'ABOVE', 1, 'Last 5 minutes', '[]', false, false, ${randomUUID()}, '{}', ${START_MS}, ${START_MS})`)
    await meta.run(sql`
      insert into monitor_states (org_id, monitor_id, status, state, last_trigger_ts, due_at, looked_at)
      values (${orgId}, ${id}, ${status}, '{}', ${last}, ${END_MS}, ${END_MS})`)
    for (const time of alerts) {
      await meta.run(sql`
        insert into monitor_events (org_id, id, monitor_id, time, monitor_status, previous_status) values (${orgId}, ${randomUUID()}, ${id}, ${time}, 'ALERT', 'OK')`)
    }
  }
  const weekly = Array.from({ length: 5 }, (_, week) => START_MS + (week * 7 + 2) * DAY_MS)
  for (let index = 0; index < MONITORS; index += 1) {
    await create(`usual ${index}`, { status: 'OK', last: weekly.at(-1) ?? null, alerts: weekly })
    if (!hasIdle) continue
    await create(`never ${index}`, { status: 'OK', last: null, alerts: [] })
    await create(`always ${index}`, { status: 'ALERT', last: START_MS + DAY_MS, alerts: [START_MS + DAY_MS] })
  }
}

/** Feeds the counts of five weeks and returns what was found in the last one. */
async function simulate(
  meta: Meta,
  seed: number,
  causes: readonly Cause[],
): Promise<{ simulated: Simulated; found: Found[]; evaluationMs: number }> {
  const rng = seeded(seed)
  const simulated = await createOrganization(meta, causes)
  const { orgId, logIds, senderId } = simulated
  const unread = new Set(causes.filter(({ name }) => name === 'never_queried').map(({ dataset }) => dataset))
  const write = <T>(work: (tx: Meta) => Promise<T>) => work(meta)
  const found = new Map<string, Found>()
  let nowMs = START_MS
  const world = { meta, ids: systemIds, clock: { ...systemClock, nowMs: () => nowMs }, deployment: { retentionDays: 365 } } as Parameters<
    typeof evaluateOrganization
  >[0]
  let evaluationMs = 0
  for (let hourMs = START_MS; hourMs < END_MS; hourMs += HOUR_MS) {
    nowMs = hourMs + HOUR_MS + 600_000
    const hours = logIds.map((_, dataset) => simulateHour(dataset, hourMs, rng, causes))
    const at = { hourMs, gapsSinceMs: hourMs - 28 * DAY_MS }
    const active = hours.filter(({ events }) => events > 0).map((hour) => ({ ...hour, log_id: logIds[hour.dataset] as string }))
    await upsertHours(
      meta,
      active.map(({ log_id, events, bytes, errors, debugs }) => ({
        log_id,
        hour_ms: hourMs,
        events,
        bytes,
        counted: events,
        errors,
        debugs,
      })),
    )
    await upsertSenders(
      meta,
      at,
      active.map(({ log_id }) => ({ log_id, identity_id: senderId })),
    )
    await upsertPatterns(
      meta,
      at,
      active.flatMap(({ log_id, patterns }) => patterns.map((pattern) => ({ log_id, ...pattern }))),
    )
    await updatePatternsKnown(
      meta,
      hourMs,
      active.map(({ log_id }) => ({ log_id, is_complete: true })),
    )
    if (hourMs % DAY_MS === 0) {
      const read = logIds.filter((_, dataset) => !unread.has(dataset) && (dataset + hourMs / DAY_MS) % 5 === 0)
      await addMinutes(
        meta,
        read.map((log_id) => ({
          org_id: orgId,
          kind: 'search',
          minute_ms: hourMs,
          log_id,
          identity_id: senderId,
          count: 1,
          bytes: 1,
          latency_ms: 1,
        })),
      )
      await updateQueried(meta, { fromMs: hourMs, toMs: hourMs + HOUR_MS })
    }
    for (const cause of causes) {
      const logId = logIds[cause.dataset] as string
      if (cause.name === 'fields_exploded' && cause.fromMs === hourMs)
        await setKeys(meta, orgId, [logId], () => Math.round(20 * cause.factor) + 50)
    }
    await updateKeys(meta, hourMs - (hourMs % DAY_MS), 1_000)
    if (hourMs < WATCHED_MS) continue
    await meta.run(sql`update monitor_states set looked_at = ${nowMs} where org_id = ${orgId}`)
    const startedMs = performance.now()
    await evaluateOrganization(world, write, orgId, { hourMs, awakeMs: START_MS, isDaily: hourMs % DAY_MS === 0 })
    evaluationMs = Math.max(evaluationMs, performance.now() - startedMs)
    for (const { name, subject, entity_id } of await selectInsights(meta, orgId)) {
      const key = `${name} ${subject}`
      if (!found.has(key)) found.set(key, { name, subject, entityId: entity_id, atMs: hourMs })
    }
  }
  return { simulated, found: [...found.values()], evaluationMs }
}

const isIdleMonitor = (name: Insight['name']): boolean => name === 'monitor_never_fires' || name === 'monitor_always_fires'

async function measure(): Promise<void> {
  const dataDir = await newDataDir()
  const meta = await openMeta({ dataDir }, { clock: systemClock, ids: systemIds, log: openLogger('warn') })
  const planted = new Map<string, { all: number; found: number; delays: number[] }>()
  const wrong: { scenario: string; found: Found; rhythm: string | undefined }[] = []
  const days = { planted: 0, quiet: 0 }
  let slowestMs = 0
  for (let seed = 1; seed <= Number(options.seeds); seed += 1) {
    for (const scenario of ['planted', 'quiet'] as const) {
      const causes = scenario === 'planted' ? plantCauses(seeded(1_000 + seed)) : []
      const { simulated, found, evaluationMs } = await simulate(meta, seed, causes)
      slowestMs = Math.max(slowestMs, evaluationMs)
      days[scenario] += WATCHED_DAYS
      const right = new Set<Found>()
      const tally = (name: string, hit: Found | undefined, delayMs: number) => {
        const sums = planted.get(name) ?? { all: 0, found: 0, delays: [] }
        planted.set(name, sums)
        sums.all += 1
        if (!hit) return
        sums.found += 1
        sums.delays.push(delayMs / HOUR_MS)
        right.add(hit)
      }
      for (const cause of causes) {
        const own = found.filter(({ name, entityId }) => name === cause.name && entityId === simulated.logIds[cause.dataset])
        const beganMs = cause.name === 'never_queried' ? WATCHED_MS : cause.fromMs
        const hit = own.find(({ atMs }) => atMs >= beganMs && atMs - beganMs <= FOUND_WITHIN_MS)
        tally(cause.name, hit, (hit?.atMs ?? 0) - beganMs)
      }
      if (scenario === 'planted') {
        for (const name of ['monitor_never_fires', 'monitor_always_fires'] as const) {
          const own = found.filter((one) => one.name === name)
          for (let index = 0; index < MONITORS; index += 1) tally(name, own[index], 0)
        }
      }
      for (const one of found) {
        if (right.has(one)) continue
        const dataset = simulated.logIds.indexOf(one.entityId)
        wrong.push({ scenario, found: one, rhythm: isIdleMonitor(one.name) ? undefined : rhythms[dataset % rhythms.length]?.name })
      }
    }
  }
  await meta.close()
  await removeDataDir(dataDir)
  process.stdout.write(`node bench/insights.ts ${process.argv.slice(2).join(' ')}\n\n`)
  const sums = [...planted].map(([name, { all, found, delays }]) => [
    name,
    String(all),
    String(found),
    (found / all).toFixed(2),
    String(Math.max(0, ...delays)),
  ])
  const all = [...planted.values()].reduce((sum, one) => ({ all: sum.all + one.all, found: sum.found + one.found }), { all: 0, found: 0 })
  printTable(
    ['cause', 'planted', 'found', 'recall', 'hours until found, most'],
    [...sums, ['all', String(all.all), String(all.found), (all.found / all.all).toFixed(2), '']],
  )
  process.stdout.write('\n')
  const falseOf = (scenario: 'planted' | 'quiet'): number => wrong.filter((one) => one.scenario === scenario).length
  printTable(
    ['scenario', 'days', 'false insights', 'per day'],
    (['planted', 'quiet'] as const).map((scenario) => [
      scenario,
      String(days[scenario]),
      String(falseOf(scenario)),
      (falseOf(scenario) / days[scenario]).toFixed(2),
    ]),
  )
  for (const { scenario, found, rhythm } of wrong) {
    process.stdout.write(`false (${scenario}): ${found.name}, ${rhythm ?? 'monitor'}, ${new Date(found.atMs).toISOString()}\n`)
  }
  process.stdout.write(`\nslowest evaluation of an organization: ${slowestMs.toFixed(0)} ms\n`)
}

if (options.help) process.stdout.write(`${USAGE}\n`)
else await measure()
