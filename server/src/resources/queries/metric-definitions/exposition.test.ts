import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../../test/support/senders.ts'

let senders: Senders
let ids: string[]

const create = async (body: object): Promise<string> => {
  const reply = await senders.org.ask<{ id: string }>('POST', '/metrics/definitions', { body })
  expect(reply.status).toBe(201)
  return reply.body.id
}

beforeAll(async () => {
  senders = await openSenders()
  const time = new Date(senders.app.clock.nowMs() - 60_000).toISOString()
  const lines = [
    { time, ms: 10, path: '/a"b\\c' },
    { time, ms: 30, path: 'line\nbreak' },
    { time, ms: 20, path: '/a"b\\c' },
  ].map((line) => JSON.stringify(line))
  await senders.post(lines.join('\n'), { headers: { 'x-service-dataset': 'web' } })
  const from_expr = "dataset = 'web'"
  const gone = await senders.found('default', 'default')
  ids = [
    await create({
      name: 'Web: latency',
      description: 'How long\nit takes \\ now',
      queries: [
        { name: 'total', select: ['count(*)'], from_expr, where: '' },
        { name: 'mean', select: ['avg(ms)'], from_expr, where: '' },
        { name: 'none', select: ['max(absent)'], from_expr, where: '' },
      ],
      formulas: [{ name: 'twice', expression: 'total * 2' }],
    }),
    await create({ name: 'By path', queries: [{ name: 'n', select: ['count(*)'], from_expr, where: '', groups: ['path', 'definition'] }] }),
    await create({
      name: 'Same',
      queries: [
        { name: 'a b', select: ['count(*)'], from_expr, where: '' },
        { name: 'a-b', select: ['max(ms)'], from_expr, where: '' },
      ],
    }),
    await create({ name: 'Broken', queries: [{ name: 'n', select: ['count(*)'], from_expr: "dataset = 'later'", where: '' }] }),
    await create({ queries: [{ name: 'unnamed', select: ['count(*)'], from: [gone?.id], where: '' }] }),
  ]
})
afterAll(() => senders?.close())

const scrape = (key = senders.org.key, query = '') => senders.app.ask<string>('GET', `/metrics/definitions/prometheus${query}`, { key })

test('prints every query and formula of named definitions, with escaped texts', async () => {
  const { status, headers, body } = await scrape()
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const [latency, byPath, same, broken, unnamed] = ids
  expect(
    body
      .split('\n')
      .filter((line) => line !== '')
      .sort(),
  ).toEqual(
    [
      '# HELP dendro_web_latency_total How long\\nit takes \\\\ now',
      '# TYPE dendro_web_latency_total gauge',
      `dendro_web_latency_total{definition="${latency}"} 3`,
      '# HELP dendro_web_latency_mean How long\\nit takes \\\\ now',
      '# TYPE dendro_web_latency_mean gauge',
      `dendro_web_latency_mean{definition="${latency}"} 20`,
      '# HELP dendro_web_latency_twice How long\\nit takes \\\\ now',
      '# TYPE dendro_web_latency_twice gauge',
      `dendro_web_latency_twice{definition="${latency}"} 6`,
      '# HELP dendro_by_path_n n of the metric definition By path',
      '# TYPE dendro_by_path_n gauge',
      `dendro_by_path_n{path="/a\\"b\\\\c",definition_="null",definition="${byPath}"} 2`,
      `dendro_by_path_n{path="line\\nbreak",definition_="null",definition="${byPath}"} 1`,
      '# HELP dendro_same_a_b a b of the metric definition Same',
      '# TYPE dendro_same_a_b gauge',
      `dendro_same_a_b{definition="${same}"} 3`,
      '# HELP dendro_same_a_b_ a-b of the metric definition Same',
      '# TYPE dendro_same_a_b_ gauge',
      `dendro_same_a_b_{definition="${same}"} 30`,
      '# HELP dendro_metric_definition_up Whether the metric definition could be computed',
      '# TYPE dendro_metric_definition_up gauge',
      `dendro_metric_definition_up{definition="${latency}"} 1`,
      `dendro_metric_definition_up{definition="${byPath}"} 1`,
      `dendro_metric_definition_up{definition="${same}"} 1`,
      `dendro_metric_definition_up{definition="${broken}"} 0`,
    ].sort(),
  )
  expect(body).not.toContain(unnamed)
})

test('computes the requested seconds', async () => {
  expect((await scrape(undefined, '?seconds=30')).body).toContain(`dendro_web_latency_total{definition="${ids[0]}"} 0\n`)
  expect((await scrape(undefined, '?seconds=0')).status).toBe(400)
})

test('needs the permissions to search and to read definitions', async () => {
  expect((await scrape(await senders.org.newKey(['IngestionApi']))).status).toBe(403)
  expect((await scrape('dk_wrong')).status).toBe(401)
})
