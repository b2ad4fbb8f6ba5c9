import { type Insight, readInsightText } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type InsightStand, openInsightStand } from '../../../../../test/support/insight-stand.ts'
import { createEvaluationRound } from '../evaluations/evaluations.ts'

/** Nine days know every day of the week. */
const HOURS = 24 * 9

let stand: InsightStand
let monitors: { never: string; always: string }
let [before, found]: [Insight[], Insight[]] = [[], []]

const many = (events: number, line: (at: number) => string): string[] => Array.from({ length: events }, (_, at) => line(at))
const info = (message: string) => JSON.stringify({ level: 'info', message })
const error = (message: string) => JSON.stringify({ level: 'error', message })
const wide = (keys: number) =>
  JSON.stringify({ message: 'wide', ...Object.fromEntries(many(keys, (at) => `key_${at}`).map((key) => [key, 1])) })
/** An hour in which nothing is unusual, with a day in which the night is quiet. Some datasets get events only around midnight. */
const usual = (hour: number): Record<string, string[]> => {
  const isNight = hour % 24 < 8
  const isCompared = [23, 0, 1].includes(hour % 24)
  return {
    web: isCompared ? many(isNight ? 60 : 300, () => info('request served')) : [],
    api: isCompared ? many(200, (at) => (at < 2 ? error('upstream failed') : info('call served'))) : [],
    mail: many(3, () => info('mail sent')),
    shop: [...many(40, () => info('order stored')), ...many(10, () => info('cart cleaned'))],
    calm: many(isNight ? 40 : 400, () => info('steady work')),
    wide: isCompared ? [wide(5)] : [],
  }
}
const archive = { archive: many(50, (at) => info(`${at} ${'archived text '.repeat(4_000)}`)) }

beforeAll(async () => {
  stand = await openInsightStand()
  const { org, senders } = stand
  const watch = { window: 'Last 1 day', actions: [{ email: 'oncall@example.org' }], comparison_operator: 'ABOVE' }
  await stand.send({ ...archive, calm: usual(12).calm ?? [] })
  const from = [await stand.idOf('calm')]
  const monitor = async (name: string, threshold: number) => {
    const queries = [{ name: 'all', select: ['count(*)'], from, where: '' }]
    const reply = await org.ask<{ id: string }>('POST', '/monitors', { body: { name, ...watch, threshold, queries } })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body.id
  }
  monitors = { never: await monitor('too many events', 1_000_000), always: await monitor('any event', 0) }
  const round = createEvaluationRound(senders.app.app.world)
  for (let day = 0; day < 21; day += 1) {
    await stand.send({ ...archive, calm: usual(12).calm ?? [] })
    await round(new AbortController().signal)
    stand.nextHour(24)
    await stand.evaluate()
  }
  for (let hour = 0; hour < HOURS; hour += 1) {
    if (hour % 24 === 0) await stand.send(archive)
    const { mail = [], shop = [], ...others } = usual(hour)
    await stand.send({ ...others, ...(hour < HOURS - 8 ? { mail, shop } : { shop: shop.slice(0, 40) }) })
    stand.nextHour()
    if (hour % 12 === 0 || hour > HOURS - 10) await stand.evaluate()
  }
  before = await stand.insights()
  await stand.send({
    web: many(3_000, () => info('request served')),
    api: many(200, (at) => (at < 100 ? error('upstream failed') : info('call served'))),
    shop: [...many(40, () => info('order stored')), ...many(30, () => error('payment provider refused the card'))],
    calm: usual(0).calm ?? [],
    wide: many(30, () => wide(80)),
  })
  stand.nextHour()
  await round(new AbortController().signal)
  await stand.evaluate()
  found = await stand.insights()
}, 600_000)
afterAll(() => stand?.close())

/** The one insight of a name, which must be about the given dataset or monitor. */
function one(name: Insight['name'], entityId: string): { insight: Insight; finding: string; confidence: string; action: { link: string } } {
  const all = found.filter((insight) => insight.name === name)
  expect(all.map(({ entity_id }) => entity_id)).toEqual([entityId])
  const insight = all[0] as Insight
  const text = readInsightText(insight.description)
  expect(text, insight.description).toBeDefined()
  return { insight, finding: text?.finding ?? '', confidence: text?.confidence ?? '', action: { link: text?.action.link ?? '' } }
}

describe('after weeks of usual hours, an hour with planted causes', () => {
  test('finds each of them once, and nothing else', () => {
    expect(found.map(({ name }) => name).sort()).toEqual([
      'errors_jumped',
      'fields_exploded',
      'monitor_always_fires',
      'monitor_never_fires',
      'never_queried',
      'new_patterns',
      'patterns_vanished',
      'sender_silent',
      'volume_jumped',
    ])
  })

  test('has found only lasting states before', () => {
    expect(before.map(({ name }) => name).sort()).toEqual(['never_queried', 'patterns_vanished', 'sender_silent'])
    const isThere = (name: Insight['name']) => before.find((one) => one.name === name)?.id
    for (const { id, name } of found) if (isThere(name)) expect(id, name).toBe(isThere(name))
  })

  test('says what is unusual and what is usual', async () => {
    const web = await stand.idOf('web')
    const { insight, finding, action } = one('volume_jumped', web)
    expect(finding).toBe('default.web: 3,000 events arrived within an hour, usually 300 at this time (the last 9 days).')
    expect(insight).toMatchObject({ entity_type: 'log', category: 'volume' })
    expect(action.link).toMatch(/^\/app\/explore\?d=/)
    expect(one('monitor_never_fires', monitors.never).finding).toMatch(/^too many events: It has not alerted for 30 days/)
    expect(one('monitor_always_fires', monitors.always).insight).toMatchObject({ entity_type: 'monitor', category: 'monitors' })
    expect(one('fields_exploded', await stand.idOf('wide')).finding).toMatch(/^default\.wide: The dataset has 8\d keys, before 6\.$/)
    expect(one('errors_jumped', await stand.idOf('api')).finding).toMatch(
      /^default\.api: 100 errors within an hour, usually 2 .* 50% .* 1%/,
    )
  })
})

describe('a caller', () => {
  const ids = () => found.map(({ id }) => id).sort()
  const listed = async (key: string) => (await stand.org.ask<{ insights: Insight[] }>('GET', '/insights', { key })).body.insights

  test('reads each insight by its id, as it is in the list', async () => {
    for (const insight of found) expect((await stand.org.ask('GET', `/insights/${insight.id}`)).body).toEqual(insight)
    expect((await stand.org.ask('GET', '/insights/7d0c1b1e-0000-4000-8000-000000000001')).status).toBe(404)
    expect((await listed(await stand.org.newKey(['SearchApi']))).map(({ id }) => id).sort()).toEqual(ids())
  })

  test('sees nothing of datasets and monitors that a policy hides', async () => {
    const { id, key } = (
      await stand.org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['AdminApi'] } })
    ).body
    const only = async (dataset: string) => {
      const policy = {
        policy_type: 'LOG_PERMIT',
        resource: { resource_type: 'LOG', resource_id: await stand.idOf(dataset) },
        actions: ['*'],
        principal: { principal_type: 'APIKEY', principal_id: id },
      }
      expect((await stand.org.ask('POST', '/policies', { body: policy })).status).toBe(201)
    }
    await only('wide')
    expect((await listed(key)).map(({ name }) => name)).toEqual(['fields_exploded'])
    const hidden = found.filter(({ name }) => name !== 'fields_exploded')
    for (const insight of hidden) expect((await stand.org.ask('GET', `/insights/${insight.id}`, { key })).status, insight.name).toBe(404)
    await only('calm')
    expect((await listed(key)).map(({ name }) => name).sort()).toEqual(['fields_exploded', 'monitor_always_fires', 'monitor_never_fires'])
  })

  test('needs the permission to read monitors for insights on them', async () => {
    const role = await stand.org.ask<{ role_id: string }>('POST', '/roles', {
      body: { role_type: 'API', display_name: 'datasets only', permissions: ['logs_read'] },
    })
    expect(role.status, JSON.stringify(role.body)).toBe(201)
    const shown = await listed(await stand.org.newKey([role.body.role_id]))
    expect(shown.map(({ entity_type }) => entity_type)).toEqual(found.filter(({ entity_type }) => entity_type === 'log').map(() => 'log'))
  })

  test('of another organization sees none of them', async () => {
    const other = await stand.senders.app.newOrganization()
    expect(await stand.insights(other)).toEqual([])
    for (const id of ids()) expect((await other.ask('GET', `/insights/${id}`)).status).toBe(404)
  })
})

describe('afterwards', () => {
  test('a cause that is over ends its insight, and a jump stays for a day', async () => {
    await stand.send({ ...usual(1), mail: usual(1).mail ?? [] })
    stand.nextHour()
    await stand.evaluate()
    const left = await stand.insights()
    const idOf = (all: readonly Insight[], name: Insight['name']) => all.find((one) => one.name === name)?.id
    expect(idOf(left, 'sender_silent')).toBeUndefined()
    expect(idOf(left, 'patterns_vanished')).toBeUndefined()
    expect(idOf(left, 'volume_jumped')).toBe(idOf(found, 'volume_jumped'))
    expect(idOf(left, 'new_patterns')).toBe(idOf(found, 'new_patterns'))
  })

  test('a run within the same hour changes nothing', async () => {
    const before = await stand.insights()
    await stand.evaluate()
    expect(await stand.insights()).toEqual(before)
  })
})
