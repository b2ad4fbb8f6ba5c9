import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sendSpans, spanId } from '../traces/spans.fixture.ts'

const SLOW = 'b'.repeat(32)
const BROKEN = 'c'.repeat(32)
const ORPHAN = 'd'.repeat(32)

let app: TestApp
let org: TestOrganization
let startMs: number

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = app.clock.nowMs() - 600_000
  await sendSpans(org, startMs, SLOW, [
    { id: 's1', service: 'shop', name: 'GET /cart', kind: 2, from: 0, to: 2_000 },
    { id: 's2', parent: 's1', service: 'pay', name: 'charge', kind: 3, from: 10, to: 1_500 },
    { id: 's3', parent: 's2', service: 'pay', name: 'store', kind: 1, from: 20, to: 40 },
  ])
  await sendSpans(org, startMs, BROKEN, [
    { id: 'b1', service: 'shop', name: 'GET /cart', kind: 2, from: 5_000, to: 5_300, error: 'no "answer"' },
  ])
  await sendSpans(org, startMs, ORPHAN, [{ id: 'o1', parent: 'gone', service: 'mail', name: 'send', from: 9_000, to: 9_050 }])
})
afterAll(() => app.close())

type Found = { traces: { traceID: string; spanSet: { spans: { spanID: string; attributes: unknown }[]; matched: number } }[] }

const ask = <T>(path: string, of = org) => of.ask<T>('GET', `/tempo/api/${path}`)
const search = (parameters: Record<string, string>, of = org) => ask<Found>(`search?${new URLSearchParams(parameters)}`, of)
const refusal = async (parameters: Record<string, string>) => String((await search(parameters)).body)
const idsOf = async (parameters: Record<string, string>) => {
  const { status, body } = await search(parameters)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.traces.map(({ traceID }) => traceID[0] ?? '').join('')
}

test('probes are answered, and paths of other versions are not found', async () => {
  expect((await ask('echo')).status).toBe(200)
  expect((await ask<{ version: string }>('status/buildinfo')).body.version).toMatch(/^2\./)
  expect((await ask('overrides')).status).toBe(404)
})

test('an id is found without its leading zeros too', async () => {
  const id = `0000000000${'e'.repeat(22)}`
  const other = await app.newOrganization()
  await sendSpans(other, startMs, id, [{ id: 'z1', service: 'shop', from: 0, to: 5 }])
  for (const path of [`traces/${'e'.repeat(22)}`, `v2/traces/000${'E'.repeat(22)}`]) {
    expect([path, (await ask(path, other)).status]).toEqual([path, 200])
    expect([path, (await other.ask('GET', `/jaeger/api/${path.replace('v2/', '')}`)).status]).toEqual([path, 200])
  }
  expect((await ask(`traces/${'e'.repeat(33)}`)).status).toBe(400)
})

test('a trace is found in JSON, in both versions', async () => {
  const first = await ask<{ batches: unknown[] }>(`traces/${BROKEN}`)
  expect(first.body.batches).toEqual([
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      scopeSpans: [
        {
          scope: {},
          spans: [
            {
              traceId: Buffer.from(BROKEN, 'hex').toString('base64'),
              spanId: Buffer.from(spanId('b1'), 'hex').toString('base64'),
              name: 'GET /cart',
              kind: 'SPAN_KIND_SERVER',
              startTimeUnixNano: `${startMs + 5_000}000000`,
              endTimeUnixNano: `${startMs + 5_300}000000`,
              attributes: [{ key: 'cart.id', value: { stringValue: 'cart-b1' } }],
              events: [
                {
                  timeUnixNano: `${startMs + 5_001}000000`,
                  name: 'exception',
                  attributes: [{ key: 'exception.type', value: { stringValue: 'Refused' } }],
                },
              ],
              links: [],
              status: { code: 'STATUS_CODE_ERROR', message: 'no "answer"' },
            },
          ],
        },
      ],
    },
  ])
  const second = await ask<{ trace: { resourceSpans: unknown[] } }>(`v2/traces/${BROKEN}`)
  expect(second.body.trace.resourceSpans).toEqual(first.body.batches)
})

test('a trace in protobuf is one that OpenTelemetry senders could have sent', async () => {
  const read = async (path: string) =>
    Buffer.from(
      await (
        await fetch(`${app.url}/tempo/api/${path}`, { headers: { 'x-service-api-key': org.key, accept: 'application/protobuf' } })
      ).arrayBuffer(),
    )
  const first = await read(`traces/${SLOW}`)
  const copy = await app.newOrganization()
  const sent = await copy.ask('POST', '/v1/traces', { raw: first, headers: { 'content-type': 'application/x-protobuf' } })
  expect(sent.status).toBe(200)
  const [own, copied] = [await ask(`traces/${SLOW}`), await ask(`traces/${SLOW}`, copy)]
  expect(copied.body).toEqual(own.body)
  // The second version wraps the same trace in a field.
  const second = await read(`v2/traces/${SLOW}`)
  expect(second.subarray(second.length - first.length).equals(first)).toBe(true)
  expect(second[0]).toBe(10)
})

test('found traces have their root, times and matching spans', async () => {
  const { body } = await search({ q: '{ resource.service.name = "pay" && .cart.id != nil }' })
  expect(body.traces).toEqual([
    expect.objectContaining({
      traceID: SLOW,
      rootServiceName: 'shop',
      rootTraceName: 'GET /cart',
      startTimeUnixNano: `${startMs}000000`,
      durationMs: 2_000,
    }),
  ])
  const spanSet = body.traces[0]?.spanSet
  expect(spanSet?.matched).toBe(2)
  expect(spanSet?.spans[0]).toMatchObject({
    attributes: [
      { key: 'service.name', value: { stringValue: 'pay' } },
      { key: 'cart.id', value: { stringValue: 'cart-s3' } },
    ],
  })
  const selected = await search({ q: '{ name = "store" } | select(.cart.id, status)' })
  expect(selected.body.traces[0]?.spanSet.spans[0]?.attributes).toEqual([{ key: 'cart.id', value: { stringValue: 'cart-s3' } }])
  const orphan = await search({ q: '{ name = "send" }', spss: '1' })
  expect(orphan.body.traces[0]).toMatchObject({ rootServiceName: '<root span not yet received>' })
})

test.each<[string, string]>([
  ['', 'dcb'],
  ['{}', 'dcb'],
  ['{ true }', 'dcb'],
  ['{ status = error }', 'c'],
  ['{ status != error }', 'db'],
  ['{status=unset}', 'db'],
  ['{ kind = server }', 'cb'],
  ['{ name = `charge` || name="send" }', 'db'],
  ['{ name =~ "GET.*" && duration > 1s }', 'b'],
  ['{ name =~ "GET" }', ''],
  ['{ name !~ "GET.*|charge|store" }', 'd'],
  ['{ duration >= 300ms && duration < 1.4s }', 'c'],
  ['{ resource.service.name = "shop" && span.cart.id = "cart-b1" }', 'c'],
  ['{ span."cart.id" = "cart-b1" }', 'c'],
  ['{ .nothing = nil && name = "send" }', 'd'],
  ['{ !(name = "send") && (status = error || kind = client) }', 'cb'],
  ['{ statusMessage = "no \\"answer\\"" }', 'c'],
  [`{ trace:id = "${BROKEN.toUpperCase()}" }`, 'c'],
  ['{ span:name = "store" }', 'b'],
  ['{ name = "store" } | select(span.cart.id, resource.service.name, status)', 'b'],
  ['{ status = error } with (most_recent=true)', 'c'],
  ['{ status = error } | select(name) with(most_recent = true)', 'c'],
  ['{ name = "store" && parentID != nil }', 'b'],
  ['{ span:parentID = nil }', 'cb'],
  ['{ nestedSetParent < 0 }', 'cb'],
  ['{ rootName = "GET /cart" }', 'cb'],
  ['{ name = "store" && rootName =~ "GET.*" }', 'b'],
  ['{ name = "send" && trace:rootName != "" }', ''],
  ['{ rootServiceName != "shop" }', ''],
  ['{ trace:rootService = "shop" && (status = error || kind = client) }', 'cb'],
  ['{ traceDuration > 300ms }', 'b'],
  ['{ trace:duration <= 300ms }', 'dc'],
  ['{ traceDuration >= 50ms && trace:duration < 1s && status != error }', 'd'],
  ['{ name = "charge" } && { kind = server }', 'b'],
  ['{ name = "charge" } && { status = error }', ''],
  ['{ name = "charge" } || { status = error }', 'cb'],
  ['{ resource.service.name = "shop" } && { resource.service.name = "pay" } && { traceDuration > 1s } | select(name)', 'b'],
  ['{ resource.service.name = "pay" } | count() > 1', 'b'],
  ['{ } | count() = 1', 'dc'],
  ['{ } | select(name) | count() >= 2 | count() < 4', 'b'],
])('%s finds %s', async (q, ids) => {
  expect(await idsOf({ q })).toBe(ids)
})

test.each([
  ['{ resource.service.name = "shop" } >> { resource.service.name = "pay" }', 's2 s3'],
  ['{ resource.service.name = "shop" } > { resource.service.name = "pay" }', 's2'],
  ['{ resource.service.name = "shop" } &>> { name = "store" }', 's1 s3'],
  ['{ name = "store" } << { }', 's1 s2'],
  ['{ name = "store" } < { status != error }', 's2'],
  ['{ name = "store" } &< { kind = client } | select(name)', 's2 s3'],
  ['{ nestedSetParent < 0 } &>> { kind = internal } with (most_recent=true)', 's1 s3'],
  ['{ name = "charge" } ~ { }', ''],
  ['{ name = "GET /cart" } >> { name = "send" }', ''],
  ['{ rootName = "GET /cart" && resource.service.name = "shop" } >> { name = "store" }', 's3'],
  ['{ rootName = "send" && resource.service.name = "shop" } >> { name = "store" }', ''],
])('%s finds the spans %s', async (q, spans) => {
  const { status, body } = await search({ q, spss: '10' })
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.traces.map(({ traceID }) => traceID)).toEqual(spans === '' ? [] : [SLOW])
  const found = body.traces.flatMap(({ spanSet }) => spanSet.spans.map(({ spanID }) => spanID))
  expect(found.sort()).toEqual(spans.split(' ').filter(Boolean).map(spanId))
})

test('related spans are found among many traces, the newest first, and one may lie before the range', async () => {
  const own = await app.newOrganization()
  const at = Math.ceil(startMs / 1_000) * 1_000
  for (let nth = 0; nth < 130; nth += 1) {
    // In every tenth trace the calls are nested, in the others side by side.
    await sendSpans(own, at + nth * 1_000, nth.toString(16).padStart(32, 'f'), [
      { id: 'a1', service: 'shop', name: 'GET /cart', from: 0, to: 500 },
      { id: 'a2', parent: 'a1', service: 'pay', name: 'charge', from: 10, to: 90 },
      { id: 'a3', parent: nth % 10 === 0 ? 'a2' : 'a1', service: 'db', name: 'select', from: 400, to: 450 },
    ])
  }
  const found = async (parameters: Record<string, string>) =>
    (await search(parameters, own)).body.traces.map(({ traceID }) => parseInt(traceID.replace(/^f+/, ''), 16))
  expect(await found({ q: '{ name = "charge" } >> { name = "select" }', limit: '3' })).toEqual([120, 110, 100])
  expect(await found({ q: '{ name = "charge" } >> { name = "select" }' })).toHaveLength(13)
  expect(await found({ q: '{ name = "charge" } ~ { name = "select" }', limit: '2' })).toEqual([129, 128])
})

test('the root of a trace may lie before the range, and counts for its length', async () => {
  const own = await app.newOrganization()
  const at = Math.ceil(startMs / 1_000) * 1_000
  await sendSpans(own, at, SLOW, [
    { id: 'l1', service: 'shop', name: 'report', from: 0, to: 90_000 },
    { id: 'l2', parent: 'l1', service: 'pay', name: 'sum', from: 60_000, to: 60_500 },
  ])
  const found = async (q: string) => {
    const { body } = await search({ q, start: String(at / 1_000 + 30), end: String(at / 1_000 + 120) }, own)
    return body.traces.map(({ traceID, spanSet }) => [traceID, spanSet.matched])
  }
  expect(await found('{ rootName = "report" && traceDuration > 1m20s }')).toEqual([[SLOW, 1]])
  expect(await found('{ traceDuration > 1m31s }')).toEqual([])
  // Its spans outside the range are not among those that are searched.
  expect(await found('{ name = "report" && traceDuration > 1s }')).toEqual([])
})

test('the older parameters, times and limits are obeyed', async () => {
  expect(await idsOf({ tags: 'service.name=shop cart.id="cart-b1"' })).toBe('c')
  expect(await idsOf({ tags: 'status=error' })).toBe('c')
  expect(await idsOf({ q: '', tags: 'status=error' })).toBe('c')
  expect(await idsOf({ tags: 'duration=1490ms' })).toBe('b')
  expect(await idsOf({ minDuration: '1s' })).toBe('b')
  expect(await idsOf({ maxDuration: '100ms' })).toBe('db')
  expect(await idsOf({ minDuration: '0s500ms', maxDuration: '1m1s' })).toBe('b')
  expect(await idsOf({ limit: '1' })).toBe('d')
  expect(await idsOf({ end: String(Math.floor(startMs / 1_000) - 60) })).toBe('')
})

describe('lists', () => {
  test('names of attributes, by scope or all', async () => {
    const { body } = await ask<{ scopes: { name: string; tags: string[] }[] }>('v2/search/tags')
    expect(body.scopes.map(({ name }) => name)).toEqual(['resource', 'span', 'intrinsic'])
    expect(body.scopes[0]?.tags).toEqual(['service.name'])
    expect(body.scopes[1]?.tags).toEqual(['cart.id'])
    expect((await ask<typeof body>('v2/search/tags?scope=span')).body.scopes).toEqual([{ name: 'span', tags: ['cart.id'] }])
    expect((await ask<{ tagNames: string[] }>('search/tags')).body.tagNames).toEqual(['cart.id', 'service.name'])
  })

  test('values of attributes and of fields, narrowed by a valid query', async () => {
    const valuesOf = async (path: string) =>
      (await ask<{ tagValues: { type: string; value: string }[] }>(`v2/search/tag/${path}`)).body.tagValues.map(({ value }) => value).sort()
    expect(await valuesOf('resource.service.name/values')).toEqual(['mail', 'pay', 'shop'])
    expect(await valuesOf(`name/values?q=${encodeURIComponent('{ resource.service.name = "pay" }')}`)).toEqual(['charge', 'store'])
    expect(await valuesOf(`name/values?q=${encodeURIComponent('{ resource.service.na')}`)).toHaveLength(4)
    expect(await valuesOf('rootName/values')).toEqual(['GET /cart'])
    expect(await valuesOf('trace:rootService/values')).toEqual(['shop'])
    expect(await valuesOf('status/values')).toEqual(['error', 'ok', 'unset'])
    expect(await valuesOf('span.cart/id/values')).toEqual([])
    expect((await ask<{ tagValues: string[] }>('search/tag/service.name/values')).body.tagValues.sort()).toEqual(['mail', 'pay', 'shop'])
  })
})

test.each([
  ['{ name = }', 'q is not valid at character 10'],
  ['{ name', 'expected one of'],
  ['name = "x"', 'expected {'],
  ['{ name = "x" } | count() >> 1', 'expected one of'],
  ['{ name = "x" } | count() > 1.5', 'whole number'],
  ['{ name = "x" } | avg(duration) > 1s', 'pipelines'],
  ['{ name = "x" } | select(', 'expected a field'],
  ['{ name = "x" } | select(name,)', 'expected a field'],
  ['{ name = "x" } with (sample=true)', 'most_recent'],
  ['{ nestedSetParent > 5 }', 'nestedSetParent < 0'],
  ['{ name = "x" } !>> { }', 'relations'],
  ['{ name = "x" } !~ { }', 'relations'],
  ['{ name = "x" } >> { } >> { }', 'relations'],
  ['{ name = "x" } >> { } && { }', 'relations'],
  ['{ name = "x" } >>', 'expected {'],
  ['{ name = "x" } > { } | count() > 1', 'count()'],
  ['{ name = "x" } && { } || { }', 'relations'],
  ['{ name = "x" || rootName = "y" }', 'by && only'],
  ['{ !(traceDuration > 1s) }', 'by && only'],
  ['{ rootName = "x" } || { }', 'by ||'],
  ['{ traceDuration =~ "1s" }', 'texts only'],
  ['{ name = send }', 'in quotes'],
  ['{ name > 5 }', 'in quotes'],
  ['{ rootKind = "x" }', 'not supported'],
  ['{ event.name = "x" }', 'not supported'],
  ['{ status = broken }', 'no status'],
  ['{ status > ok }', '= or !='],
  ['{ kind = robot }', 'no kind'],
  ['{ duration > 5 }', 'length of time'],
  ['{ .a =~ "(" }', 'regular expression'],
  ['{ .a > nil }', 'nil'],
  ['{ .a = 5 § }', 'unexpected §'],
  [`{ ${'('.repeat(200)}`, 'nested'],
])('the query %s is refused', async (q, reason) => {
  const { status, body } = await search({ q })
  expect([status, String(body)]).toEqual([400, expect.stringContaining(reason)])
})

test('bad parameters are refused, and another organization finds nothing', async () => {
  expect(await refusal({ limit: '0' })).toContain('limit')
  expect(await refusal({ spss: 'many' })).toContain('spss')
  expect(await refusal({ start: 'yesterday' })).toContain('start')
  expect(await refusal({ minDuration: 'long' })).toContain('minDuration')
  expect(await refusal({ minDuration: '2s', maxDuration: '1s' })).toContain('minDuration must not be longer than maxDuration')
  expect(await refusal({ tags: 'service.name' })).toContain('tags')
  expect(String((await ask(`v2/traces/${SLOW}?start=9&end=5`)).body)).toContain('end must not be before start')
  expect((await ask('v2/search/tags?scope=galaxy')).status).toBe(400)
  expect((await ask('v2/search/tags?scope=event')).body).toMatchObject({ scopes: [{ name: 'event', tags: [] }] })
  const other = await app.newOrganization()
  expect((await search({}, other)).body.traces).toEqual([])
  expect((await ask(`traces/${SLOW}`, other)).status).toBe(404)
  expect((await ask<{ scopes: { tags: string[] }[] }>('v2/search/tags', other)).body.scopes[1]?.tags).toEqual([])
})

test('a policy on events hides spans from searches, traces, values and the protocol of Jaeger', async () => {
  const made = await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'some spans', roles: ['SearchApi'] } })
  const policy = await org.ask('POST', '/policies', {
    body: {
      policy_type: 'CUSTOM',
      resource: { resource_type: 'COLLECTION', resource_id: '.traces' },
      actions: ['*'],
      principal: { principal_type: 'APIKEY', principal_id: made.body.id },
      when: { where: "$cart.id = 'cart-b1'" },
    },
  })
  expect([policy.status, JSON.stringify(policy.body)]).toEqual([201, expect.any(String)])
  const read = async (path: string) => {
    const { status, body } = await app.ask('GET', path, { key: made.body.key })
    return { status, text: JSON.stringify(body) }
  }
  const found = await read('/tempo/api/search')
  expect(found.text).toContain(BROKEN)
  expect(found.text).not.toContain(SLOW)
  expect((await read(`/tempo/api/traces/${SLOW}`)).status).toBe(404)
  expect((await read(`/tempo/api/traces/${BROKEN}`)).status).toBe(200)
  expect((await read('/tempo/api/search/tag/service.name/values')).text).toContain('["shop"]')
  expect((await read('/jaeger/api/services')).text).toContain('["shop"]')
  expect((await read(`/jaeger/api/traces/${SLOW}`)).status).toBe(404)
  expect((await read('/jaeger/api/traces?service=pay')).text).toContain('"data":[]')
})
