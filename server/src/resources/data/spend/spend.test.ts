import { contract, type ReplyOf, type SpendMonth, type SpendSettings } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'
import { budgetState } from './budget.ts'

type Spend = ReplyOf<typeof contract.spend.get>
type Savings = ReplyOf<typeof contract.spend.savings>

let senders: Senders
beforeAll(async () => {
  senders = await openSendersAlone()
})
afterAll(() => senders?.close())

const DAY_MS = 86_400_000
const PRICE = { currency: 'EUR', per_gb: 1_000_000, per_gb_day: 10_000 }

async function newSender() {
  const owner = await senders.app.newOrganization()
  const send = async (bytes: number, dataset = 'web', key?: string) => {
    const headers = { 'x-service-dataset': dataset }
    const sent = await senders.post('x'.repeat(bytes), { owner, headers, ...(key ? { key } : {}) })
    expect(sent.status).toBeLessThan(300)
  }
  const read = async <T = Spend>(path: string, key?: string): Promise<T> => {
    const reply = await owner.ask<T>('GET', path, key ? { key } : {})
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return reply.body
  }
  const set = (body: object) => owner.ask<SpendSettings>('PUT', '/spend/settings', { body })
  return { owner, send, read, set }
}

const idOf = async (owner: TestOrganization, dataset: string): Promise<string> =>
  (await senders.datasets(owner)).find((one) => one.dataset === dataset)?.id ?? 'none'

describe('spend', () => {
  test('by dataset adds up, with the rest as one group, and equals usage to the byte', async () => {
    const { owner, send, read } = await newSender()
    for (const [bytes, dataset] of [
      [10, 'a'],
      [40, 'b'],
      [25, 'c'],
      [5, 'a'],
    ] as const)
      await send(bytes, dataset)
    const [b, c] = [await idOf(owner, 'b'), await idOf(owner, 'c')]
    const spend = await read('/spend?limit=2')
    expect(spend.groups.map(({ log_id, name, bytes, events }) => [log_id, name, bytes, events])).toEqual([
      [b, expect.stringMatching(/\.b$/), 40, 1],
      [c, expect.stringMatching(/\.c$/), 25, 1],
    ])
    expect(spend.other).toMatchObject({ bytes: 15, events: 2 })
    expect(spend.total).toMatchObject({ bytes: 80, events: 4 })
    const sums = [...spend.groups, ...(spend.other ? [spend.other] : [])]
    expect(sums.map(({ share }) => share)).toEqual([0.5, 25 / 80, 15 / 80])
    expect(spend.total.bytes_over_time).toHaveLength(30)
    for (const sum of [spend.total, ...sums]) expect(sum.bytes_over_time.reduce((all, one) => Number(all) + Number(one), 0)).toBe(sum.bytes)
    expect(spend).not.toHaveProperty('price')
    expect(spend.total).not.toHaveProperty('cost')
    const usage = await read<{ total_value: number }>('/usage?time_range=Last%2030%20days')
    expect(usage.total_value).toBe(80)
    expect(contract.spend.get.reply.strict().parse(spend)).toEqual(spend)
    expect((await read(`/spend?from=${b}`)).groups.map(({ bytes }) => bytes)).toEqual([40])
    expect((await read('/spend?time_range=Last%2020%20minutes')).total.bytes_over_time).toHaveLength(20)
  })

  test('by key and by protocol names the senders', async () => {
    const { owner, send, read } = await newSender()
    const key = await owner.newKey(['IngestionApi'])
    await send(10)
    await send(30, 'web', key)
    const byKey = await read('/spend?by=key')
    expect(byKey.groups.map(({ bytes }) => bytes)).toEqual([30, 10])
    expect(new Set(byKey.groups.map(({ identity }) => identity?.id)).size).toBe(2)
    expect(byKey.groups.every(({ identity, name }) => identity?.type === 'API_KEY_ID' && identity.id === name)).toBe(true)
    const byProtocol = await read('/spend?by=protocol')
    expect(byProtocol.groups).toHaveLength(1)
    expect(byProtocol.groups[0]).toMatchObject({ bytes: 40, share: 1 })
    expect(byProtocol.groups[0]?.protocol).toBe(byProtocol.groups[0]?.name)
  })

  test('costs what arrives, and each day that it is kept', async () => {
    const { owner, send, read, set } = await newSender()
    await send(1_000, 'long')
    await send(1_000, 'short')
    for (const [dataset, retention] of [
      ['long', 'DAYS_365'],
      ['short', 'DAYS_30'],
    ] as const) {
      const scope = { from: await idOf(owner, dataset) }
      const body = { entity: 'LOG', category: 'DATASET_RETENTION', retention, scope }
      const made = await owner.ask('POST', '/retention-rules', { body })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
    }
    expect((await set({ price: PRICE })).status).toBe(200)
    const spend = await read('/spend')
    const costs = new Map(spend.groups.map(({ name, cost, gb_days }) => [name.split('.')[1], { cost, gb_days }]))
    expect(costs.get('long')?.cost).toBeCloseTo(1 + 0.01 * 365, 9)
    expect(costs.get('short')?.cost).toBeCloseTo(1 + 0.01 * 30, 9)
    expect(costs.get('short')?.gb_days).toBeCloseTo(30e-6, 12)
    expect(spend.total.cost).toBeCloseTo(2 + 3.95, 9)
    expect(spend.price).toEqual(PRICE)
  })

  test('of a dataset that is hidden from the caller is left out, and of another organization never seen', async () => {
    const { owner, send, read } = await newSender()
    await send(10, 'seen')
    await send(20, 'hidden')
    const hidden = await idOf(owner, 'hidden')
    const key = await owner.newKey(['SearchApi'])
    const made = await owner.ask('POST', '/policies', {
      body: {
        policy_type: 'LOG_FORBID',
        resource: { resource_type: 'LOG', resource_id: hidden },
        actions: ['*'],
        principal: { principal_type: 'ROLE', principal_id: 'SearchApi' },
      },
    })
    expect(made.status).toBe(201)
    for (const by of ['dataset', 'key', 'protocol']) {
      expect((await read(`/spend?by=${by}`, key)).total.bytes).toBe(10)
      expect((await read(`/spend?by=${by}&from=${hidden}`, key)).groups).toEqual([])
      expect((await read(`/spend?by=${by}`)).total.bytes).toBe(30)
    }
    expect(await read<SpendMonth>('/spend/budget', key)).toMatchObject({ bytes: 10, is_whole: false })
    expect(await read<SpendMonth>('/spend/budget')).toMatchObject({ bytes: 30, is_whole: true })
    const other = await newSender()
    expect((await other.read(`/spend?from=${hidden}`)).groups).toEqual([])
    expect((await other.read('/spend')).total.bytes).toBe(0)
  })

  test('of late events counts when they arrive', async () => {
    const { owner, read } = await newSender()
    const line = JSON.stringify({ timestamp: senders.app.clock.nowMs() - 3 * DAY_MS, message: 'late' })
    await senders.post(line, { owner, headers: { 'x-service-dataset': 'a' } })
    expect((await read('/spend?time_range=Last%2020%20minutes')).total).toMatchObject({ events: 1, bytes: line.length })
  })

  test('by pattern, field and sender is estimated from samples, adds up, and is marked', async () => {
    const { owner, read, set } = await newSender()
    const line = (message: string, payload: number) => JSON.stringify({ level: 'info', message, nested: { payload: 'x'.repeat(payload) } })
    const body = (lines: number, text: string) => Array.from({ length: lines }, (_, at) => line(`${text} ${at}`, 930)).join('\n')
    const sent = [body(6_000, 'order stored'), body(2_000, 'cart cleaned')].join('\n')
    const headers = { 'x-service-dataset': 'shop', 'user-agent': 'shipper/2.1' }
    expect((await senders.post(sent, { owner, headers })).status).toBeLessThan(300)
    await set({ price: PRICE })
    const shop = await idOf(owner, 'shop')
    const whole = (await read('/spend')).total
    for (const by of ['pattern', 'field', 'sender'] as const) {
      const spend = await read(`/spend?by=${by}`)
      expect(spend.is_estimate).toBe(true)
      expect(spend.total.bytes).toBe(whole.bytes)
      const sums = [...spend.groups, ...(spend.other ? [spend.other] : [])]
      expect(sums.reduce((sum, { bytes }) => sum + Number(bytes), 0)).toBe(Number(whole.bytes))
      expect(sums.reduce((sum, { cost = 0 }) => sum + cost, 0)).toBeCloseTo(whole.cost ?? 0, 6)
      for (const sum of sums) expect(sum.bytes_over_time.reduce((all, one) => Number(all) + Number(one), 0)).toBe(sum.bytes)
      expect(contract.spend.get.reply.strict().parse(spend)).toEqual(spend)
    }
    const [orders, carts] = (await read('/spend?by=pattern')).groups
    expect(orders).toMatchObject({ log_id: shop, pattern: expect.stringMatching(/^[\da-f]{16}$/), name: orders?.pattern })
    expect(orders?.share).toBeGreaterThan(0.65)
    expect(carts?.share).toBeGreaterThan(0.15)
    const found = await owner.ask<{ events: unknown[] }>('POST', '/search', {
      body: { from: [shop], where: `@pattern = '${orders?.pattern}'`, select: ['count(*)'], time_range: 'Last 1 hour' },
    })
    expect(JSON.stringify(found.body)).toContain('6000')
    const fields = (await read('/spend?by=field')).groups
    expect(fields[0]).toMatchObject({ field: 'nested.payload', log_id: shop })
    expect(fields[0]?.share).toBeGreaterThan(0.8)
    expect(fields.map(({ field }) => field)).toEqual(expect.arrayContaining(['level', 'message']))
    const [sender] = (await read('/spend?by=sender')).groups
    expect(sender?.sender).toMatch(/^shipper \S+$/)
    expect(sender?.share).toBeGreaterThan(0.9)
    const rest = await read('/spend?by=pattern&limit=1')
    expect(rest.groups).toHaveLength(1)
    expect(rest.other?.share).toBeGreaterThan(0.15)
    const { savings } = await read<Savings>('/spend/savings?limit=5')
    expect(savings.map(({ kind, log_id }) => [kind, log_id])).toEqual(expect.arrayContaining([['SAMPLE_PATTERN', shop]]))
    const removal = savings.find(({ field }) => field === 'nested.payload')
    expect(removal?.cost_saved).toBeGreaterThan(0)
    for (const body of savings.map((one) => one.rule)) {
      const made = await owner.ask<{ id: string }>('POST', '/ingest-rules', { body: { ...body, enabled: false } })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
    }
    const other = await newSender()
    expect((await other.read<Savings>('/spend/savings')).savings).toEqual([])
    for (const by of ['pattern', 'field', 'sender']) expect((await other.read(`/spend?by=${by}&from=${shop}`)).groups).toEqual([])
    const key = await owner.newKey(['SearchApi'])
    const policy = {
      policy_type: 'LOG_FORBID',
      resource: { resource_type: 'LOG', resource_id: shop },
      actions: ['*'],
      principal: { principal_type: 'ROLE', principal_id: 'SearchApi' },
    }
    expect((await owner.ask('POST', '/policies', { body: policy })).status).toBe(201)
    for (const by of ['pattern', 'field', 'sender'])
      expect(await read(`/spend?by=${by}`, key)).toMatchObject({ groups: [], total: { bytes: 0 } })
  })

  test('refuses what it cannot answer, naming the field', async () => {
    const { owner } = await newSender()
    for (const [query, field] of [
      ['by=nothing', 'by'],
      ['limit=0', 'limit'],
      ['num_of_slices=201', 'num_of_slices'],
      ['from=x', 'from'],
      ['from_ts=5', 'from_ts'],
      ['time_range=some%20day', 'time_range'],
    ] as const) {
      const reply = await owner.ask<{ errors: { field: string }[] }>('GET', `/spend?${query}`)
      expect(reply.status, query).toBe(400)
      expect(reply.body.errors[0]?.field, query).toContain(field)
    }
    const key = await owner.newKey(['IngestionApi'])
    for (const path of ['/spend', '/spend/budget', '/spend/settings']) expect((await owner.ask('GET', path, { key })).status).toBe(403)
  })
})

describe('the price and the budget', () => {
  test('are kept until they are replaced, and removed where they are absent', async () => {
    const { read, set } = await newSender()
    expect(await read('/spend/settings')).toEqual({ metadata: {} })
    const first = await set({ price: PRICE, budget: { amount: 500, unit: 'MONEY' } })
    expect(first.body).toMatchObject({ price: PRICE, budget: { amount: 500, unit: 'MONEY' } })
    expect(await read('/spend/settings')).toEqual(first.body)
    const next = await set({ budget: { amount: 3, unit: 'GB' } })
    expect(next.body).not.toHaveProperty('price')
    expect(await read('/spend/settings')).toMatchObject({ budget: { amount: 3, unit: 'GB' } })
    expect(next.body.metadata.created_at).toBe(first.body.metadata.created_at)
  })

  test.each([
    [{ budget: { amount: 5, unit: 'MONEY' } }, 'budget.unit'],
    [{ price: { currency: 'euro' } }, 'price.currency'],
    [{ price: { currency: 'EUR', per_gb: -1 } }, 'price.per_gb'],
    [{ budget: { amount: 5, unit: 'EVENTS' } }, 'budget.unit'],
    [{ budget: { amount: 1e300, unit: 'GB' } }, 'budget.amount'],
  ])('%j is refused', async (body, field) => {
    const { set } = await newSender()
    const reply = await set(body)
    expect(reply.status).toBe(400)
    expect(JSON.stringify(reply.body)).toContain(`"${field}"`)
  })

  test('are not set without the permission for limits', async () => {
    const { owner } = await newSender()
    const key = await owner.newKey(['SearchApi'])
    expect((await owner.ask('PUT', '/spend/settings', { key, body: {} })).status).toBe(403)
  })
})

describe('the month', () => {
  test('is forecast from the days before, and stands against its budget', async () => {
    const { send, read, set } = await newSender()
    senders.app.clock.advance(DAY_MS - (senders.app.clock.nowMs() % DAY_MS) + 3_600_000)
    expect(await read<SpendMonth>('/spend/budget')).not.toHaveProperty('forecast')
    for (let day = 0; day < 4; day += 1) {
      await send(1_000)
      senders.app.clock.advance(DAY_MS)
    }
    await send(100)
    await set({ price: PRICE, budget: { amount: 1e-9, unit: 'GB' } })
    const month = await read<SpendMonth>('/spend/budget')
    const now = senders.app.clock.nowMs()
    const [start, end] = [new Date(now).setUTCDate(1), new Date(now).setUTCMonth(new Date(now).getUTCMonth() + 1, 1)].map(
      (ms) => ms - (ms % DAY_MS),
    )
    expect([month.start_time, month.end_time]).toEqual([start, end])
    expect(month.days.map(({ start_time }) => start_time)).toEqual(month.days.map((_, index) => Number(start) + index * DAY_MS))
    expect(month.days.reduce((sum, { bytes }) => sum + Number(bytes), 0)).toBe(month.bytes)
    const { forecast } = month
    const left = month.days.reduce((sum, { forecast_bytes = 0 }) => sum + forecast_bytes, 0)
    expect(forecast?.history_days).toBe(4)
    expect(forecast?.bytes.expected).toBeCloseTo(Number(month.bytes) + left, 6)
    expect(forecast?.bytes.low).toBeLessThanOrEqual(forecast?.bytes.expected ?? 0)
    expect(forecast?.cost?.high).toBeGreaterThan(forecast?.cost?.expected ?? 0)
    expect(month.budget).toMatchObject({ amount: 1e-9, unit: 'GB', state: 'EXCEEDED', used: Number(month.bytes) / 1e9 })
    await set({ price: PRICE, budget: { amount: 1e9, unit: 'MONEY' } })
    expect((await read<SpendMonth>('/spend/budget')).budget).toMatchObject({ state: 'WITHIN', used: month.cost })
    expect(contract.spend.budget.reply.strict().parse(month)).toEqual(month)
  })

  test('is at risk before it is likely to exceed its budget', () => {
    expect(budgetState(10, 5, undefined)).toBe('WITHIN')
    expect(budgetState(10, 5, { expected: 8, high: 9 })).toBe('WITHIN')
    expect(budgetState(10, 5, { expected: 8, high: 11 })).toBe('AT_RISK')
    expect(budgetState(10, 5, { expected: 11, high: 12 })).toBe('LIKELY_EXCEEDED')
    expect(budgetState(10, 11, { expected: 12, high: 13 })).toBe('EXCEEDED')
  })
})
