import { expect, test } from 'vitest'
import { assembleTrace } from './assembled.ts'
import type { RecordedSpan } from './recorded-span.ts'

const spanOf = (
  id: string,
  parentId: string | undefined,
  start: number,
  duration: number,
  more: Partial<RecordedSpan> = {},
): RecordedSpan => ({
  id,
  parentId,
  name: id,
  kind: 'SPAN_KIND_INTERNAL',
  service: 's',
  machine: 's',
  status: 'unset',
  statusMessage: undefined,
  startNano: 1_800_000_000_000_000_000n + BigInt(start),
  durationNano: duration,
  ...more,
})

/** Repeatable numbers from 0 to below 1. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function randomTrace(seed: number): RecordedSpan[] {
  const next = numbers(seed)
  const below = (most: number) => Math.floor(next() * most)
  return Array.from({ length: 1 + below(60) }, (_, at) => {
    // Parents may be missing, later in the list, the span itself, or below it.
    const parent = at === 0 || next() < 0.05 ? undefined : String(below(70))
    const machine = `m${below(3)}`
    return spanOf(String(below(65)), parent, below(1_000) - 500, below(300), {
      machine,
      service: machine,
      kind: next() < 0.3 ? 'SPAN_KIND_CLIENT' : 'SPAN_KIND_SERVER',
    })
  })
}

test('every span has one place, after its parent, whatever the parents are', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const spans = randomTrace(seed)
    const { nodes, duplicates, stretches, durationNano } = assembleTrace(spans)
    expect(nodes.length + duplicates).toBe(spans.length)
    expect(new Set(nodes.map(({ at }) => at)).size).toBe(nodes.length)
    for (const [at, node] of nodes.entries()) {
      if (node.parent !== undefined) expect(node.parent).toBeLessThan(at)
      expect(node.depth).toBe(node.parent === undefined ? 0 : (nodes[node.parent]?.depth ?? 0) + 1)
      const below = nodes.slice(at + 1, at + 1 + node.descendants)
      expect(below.every(({ depth }) => depth > node.depth)).toBe(true)
      expect(nodes[at + 1 + node.descendants]?.depth ?? 0).toBeLessThanOrEqual(node.depth)
      expect(stretches[at]?.start).toBeGreaterThanOrEqual(0)
      expect(stretches[at]?.end).toBeLessThanOrEqual(durationNano)
    }
  }
})

test('the critical path covers the root exactly once, and time of their own is within each span', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const { nodes, stretches, path, root = 0, selfNanos } = assembleTrace(randomTrace(seed))
    const whole = stretches[root] ?? { start: 0, end: 0 }
    let reach = whole.start
    for (const { node, start, end } of path) {
      expect(start).toBe(reach)
      expect(end).toBeGreaterThan(start)
      expect(stretches[node]?.start).toBeLessThanOrEqual(start)
      expect(stretches[node]?.end).toBeGreaterThanOrEqual(end)
      reach = end
    }
    expect(reach).toBe(whole.end)
    for (const [at, own] of selfNanos.entries()) {
      expect(own).toBeGreaterThanOrEqual(0)
      expect(own).toBeLessThanOrEqual(nodes[at]?.span.durationNano ?? 0)
    }
  }
})

test('the critical path goes through the child that ended last, then the one before it', () => {
  const { nodes, path } = assembleTrace([
    spanOf('root', undefined, 0, 100),
    spanOf('first', 'root', 10, 30),
    spanOf('hidden', 'root', 45, 20),
    spanOf('second', 'root', 40, 50),
  ])
  expect(path.map(({ node, start, end }) => [nodes[node]?.span.id, start, end])).toEqual([
    ['root', 0, 10],
    ['first', 10, 40],
    ['second', 40, 90],
    ['root', 90, 100],
  ])
})

test('a clock is corrected where times are impossible, with the spans below on the same machine', () => {
  const client = { kind: 'SPAN_KIND_CLIENT' }
  const other = { machine: 'other', kind: 'SPAN_KIND_SERVER' }
  const { skews } = assembleTrace([
    spanOf('client', undefined, 1_000, 100, client),
    spanOf('server', 'client', 500, 60, other),
    spanOf('work', 'server', 510, 20, { machine: 'other' }),
  ])
  expect(skews).toEqual([0, 520, 520])
})

test.each([
  [
    'a server that outlasts a client that gave up',
    { kind: 'SPAN_KIND_CLIENT', status: 'error' as const },
    { kind: 'SPAN_KIND_SERVER' },
    50,
    500,
  ],
  ['a consumer that begins later', { kind: 'SPAN_KIND_PRODUCER' }, { kind: 'SPAN_KIND_CONSUMER' }, 900, 10],
])('%s is no wrong clock', (_case, parent, child, start, duration) => {
  const spans = [spanOf('a', undefined, 0, 100, parent), spanOf('b', 'a', start, duration, { ...child, machine: 'other' })]
  expect(assembleTrace(spans).skews).toEqual([0, 0])
})

test('copies are counted, circles are cut at the earliest span, and spans that miss one parent lie together', () => {
  const { nodes, duplicates, missing } = assembleTrace([
    spanOf('x', 'y', 5, 10),
    spanOf('y', 'x', 0, 20),
    spanOf('m1', 'gone', 30, 1),
    spanOf('other', undefined, 31, 5),
    spanOf('m2', 'gone', 40, 1),
    spanOf('m2', 'gone', 40, 1),
  ])
  expect(nodes.map(({ span, parentState }) => [span.id, parentState])).toEqual([
    ['y', 'cyclic'],
    ['x', 'present'],
    ['m1', 'missing'],
    ['m2', 'missing'],
    ['other', 'none'],
  ])
  expect([duplicates, missing]).toEqual([1, ['gone']])
})

test('100,000 spans below each other, or side by side, are assembled', () => {
  const deep = Array.from({ length: 100_000 }, (_, at) => spanOf(`s${at}`, at === 0 ? undefined : `s${at - 1}`, at, 200_000 - 2 * at))
  expect(assembleTrace(deep).nodes.at(-1)?.depth).toBe(99_999)
  const wide = Array.from({ length: 100_000 }, (_, at) => (at === 0 ? spanOf('s0', undefined, 0, 100_000) : spanOf(`s${at}`, 's0', at, 1)))
  expect(assembleTrace(wide).path.length).toBe(100_000)
})

test('a server that shares the id of its client lies below it, and has the spans of its service below itself', () => {
  const [shop, pay] = ['shop', 'pay'].map((service) => ({ service, machine: service }))
  const trace = assembleTrace([
    spanOf('a', undefined, 0, 100, shop),
    spanOf('x', 'a', 10, 60, { ...shop, name: 'call', kind: 'SPAN_KIND_CLIENT' }),
    // The clock of the server is behind.
    spanOf('x', 'a', 5, 30, { ...pay, name: 'serve', kind: 'SPAN_KIND_SERVER' }),
    spanOf('b', 'x', 8, 10, { ...pay, name: 'store' }),
    spanOf('c', 'x', 12, 10, { ...shop, name: 'encode' }),
  ])
  expect(trace.nodes.map(({ span, depth }) => [span.name, depth])).toEqual([
    ['a', 0],
    ['call', 1],
    ['serve', 2],
    ['store', 3],
    ['encode', 2],
  ])
})

test('a failure is the origin only where nothing below it failed', () => {
  const failed = { status: 'error' as const }
  const trace = assembleTrace([spanOf('a', undefined, 0, 9, failed), spanOf('b', 'a', 1, 5), spanOf('c', 'b', 2, 1, failed)])
  expect(trace.failed).toEqual([
    { node: 0, isOrigin: false },
    { node: 2, isOrigin: true },
  ])
})
