import { contract, type Finding, type ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { type FleetEvent, type FleetRandom, fleetLines, type PlantedCause } from './planted.fixture.ts'

type Answer = ReplyOf<typeof contract.changes.find>

const RANGE_MS = 600_000
const PROVIDERS = ['northbank', 'eastpay', 'southcard', 'westcash']

let app: TestApp
let org: TestOrganization
let fromMs: number
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  fromMs = app.clock.nowMs() - 3 * RANGE_MS
})
afterAll(() => app?.close())

const partner = (event: FleetEvent, { pick }: FleetRandom): FleetEvent => ({
  ...event,
  provider: pick(PROVIDERS),
  version: pick(['4.1.7', '4.2.0']),
})
const slow = (event: FleetEvent, { number }: FleetRandom): FleetEvent => ({
  ...event,
  status: 504,
  level: 'warn',
  duration_ms: 3_000 + Math.floor(number() * 4_000),
})

/** Sends a fleet with payment providers and two versions; in the range a cause changes some of its events. Every event differs from range to range. */
async function compared(
  dataset: string,
  seed: number,
  plant: (event: FleetEvent, random: FleetRandom) => FleetEvent,
  always = partner,
): Promise<Answer> {
  const cause = (change: PlantedCause['plant']): PlantedCause => ({
    name: dataset,
    plant: change,
    expected: { key: '', value: null, change: [] },
  })
  const calm = fleetLines(seed, { fromMs: fromMs - RANGE_MS, toMs: fromMs, events: 1_500, cause: cause(always) })
  const now = fleetLines(seed + 1, {
    fromMs,
    toMs: fromMs + RANGE_MS,
    events: 1_500,
    cause: cause((event, random) => plant(always(event, random), random)),
  })
  const headers = { 'x-service-collection': 'fleet', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw: [...calm, ...now].join('\n'), headers })).status).toBe(200)
  const body = { from_expr: `dataset = '${dataset}'`, from_ts: fromMs, to_ts: fromMs + RANGE_MS }
  const answer = await org.ask<Answer>('POST', '/changes', { body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(contract.changes.find.reply.safeParse(answer.body).error?.issues ?? []).toEqual([])
  expect(answer.body.groups.flatMap(({ findings }) => findings)).toEqual(answer.body.findings.map((_, at) => at))
  for (const finding of answer.body.findings) await expectExact(dataset, finding, answer.body.range.count)
  return answer.body
}

/** What a finding says of shared events is what a search counts. */
async function expectExact(dataset: string, { where, shared, change, count: here, baseline_count: there }: Finding, all: number | bigint) {
  if (!shared || change === 'VANISHED' || change === 'DECREASED') return
  const both = shared.names.map((name) => name.where).join(' AND ')
  const [own, others] = [await counted(dataset, `${where} AND ${both}`), await counted(dataset, `NOT ${where} AND ${both}`)]
  expect({ where, count: shared.count, others: Math.round(shared.others_share * (Number(all) - Number(here))) }, String(there)).toEqual({
    where,
    count: own,
    others,
  })
}

async function counted(dataset: string, where: string): Promise<number> {
  const body = {
    from_expr: `dataset = '${dataset}'`,
    where,
    from_ts: fromMs,
    to_ts: fromMs + RANGE_MS,
    select: ['count(*)'],
    num_of_slices: 1,
  }
  const reply = await org.ask<{ totals: { count: number } }>('POST', '/search', { body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body.totals.count
}

/** Groups as texts: what they share, and the first names of their findings. */
const groupsOf = ({ groups, findings }: Answer) =>
  groups.map((group) => ({
    shared: group.shared.map(({ label }) => label),
    findings: group.findings.map((at) => findings[at]?.names[0]?.label),
  }))

describe.each([3, 17])('seed %i', (seed) => {
  test('a slow provider, as frequent as before, is named before its slow events', async () => {
    const answer = await compared(`slow-${seed}`, seed, (event, random) =>
      event.provider === 'northbank' && random.number() < 0.2 ? slow(event, random) : event,
    )
    const [first] = groupsOf(answer)
    expect(first?.shared).toEqual(['provider = northbank'])
    expect(first?.findings.join()).toMatch(/status = 504/)
    expect(first?.findings.join() + JSON.stringify(answer.findings[0]?.names)).toMatch(/duration_ms/)
    expect(answer.findings[0]?.text).toMatch(/^All \d+ events with .* share provider = northbank, which \d+ % of the others have\. New: /)
    expect(answer.summary).toContain(answer.findings[0]?.text ?? '?')
    for (const { shared } of groupsOf(answer).slice(1)) expect(shared).toEqual([])
  })

  test('one version of one service that fails is named by both', async () => {
    const answer = await compared(`version-${seed}`, seed, (event, { number }) =>
      event.service === 'checkout' && event.version === '4.2.0' && number() < 0.7
        ? { ...event, level: 'error', status: 500, exception: { type: 'java.lang.NullPointerException' } }
        : event,
    )
    const exception = answer.findings.find(({ names }) => names.some(({ value }) => value === 'java.lang.NullPointerException'))
    expect(exception?.shared?.names.map(({ label }) => label).toSorted()).toEqual(['service = checkout', 'version = 4.2.0'])
    expect(exception?.shared?.count).toBe(exception?.count)
    expect(exception?.shared?.others_share).toBeLessThan(0.06)
  })

  test('two independent causes are two groups', async () => {
    const answer = await compared(`two-${seed}`, seed, (event, random) => {
      if (event.provider === 'northbank' && random.number() < 0.2) return slow(event, random)
      if (event.service === 'search' && random.number() < 0.6) return { ...event, outcome: 'rejected', quota: 'exceeded' }
      return event
    })
    const groups = groupsOf(answer)
    const ofSlow = groups.find(({ findings }) => findings.includes('status = 504'))
    expect(ofSlow?.shared).toEqual(['provider = northbank'])
    const ofQuota = groups.find(({ findings }) => findings.includes('quota = exceeded'))
    expect(ofQuota).toBeDefined()
    expect(ofQuota).not.toBe(ofSlow)
    expect(ofQuota?.findings).not.toContain('status = 504')
  })

  test('a change in all parts alike shares nothing', async () => {
    const answer = await compared(`everywhere-${seed}`, seed, (event, random) => (random.number() < 0.1 ? slow(event, random) : event))
    expect(answer.findings.length).toBeGreaterThan(0)
    const causes = answer.groups.flatMap(({ shared }) => shared.map(({ label }) => label))
    expect(causes).toEqual([])
    expect(answer.findings.flatMap(({ shared }) => shared?.names ?? [])).toEqual([])
  })

  test('that only some events have a field is no cause of its values', async () => {
    const answer = await compared(
      `key-${seed}`,
      seed,
      (event, random) =>
        event.service === 'gateway' && random.number() < 0.3 ? { ...event, wait_ms: 900 + random.number() * 500 } : event,
      (event, { number }) => (event.service === 'gateway' ? { ...event, wait_ms: 20 + number() * 50 } : event),
    )
    const slower = answer.findings.find(({ names }) => names.some(({ key }) => key === 'wait_ms'))
    expect(slower).toBeDefined()
    expect(slower?.shared).toBeNull()
  })

  test('without a change nothing is found or grouped', async () => {
    const answer = await compared(`calm-${seed}`, seed, (event) => event)
    expect(answer.groups).toEqual([])
  })
})
