import { describe, expect, test } from 'vitest'
import { type Calls, NODE_HEIGHT, NODE_WIDTH, pathThrough, serviceGraph } from './service-graph.ts'

const calls = (from: string, to: string, kind: Calls['kind'] = 'service'): Calls => ({
  from,
  to,
  kind,
  calls: 1,
  per_second: 1,
  errors: 0,
  p50_nano: 1,
  p95_nano: 1,
  max_nano: 1,
})
const service = (name: string, errors = 0) => ({ service: name, spans: 10, errors })

describe('serviceGraph', () => {
  test.each(['right', 'down'] as const)('the map opens at the first caller, %s', (direction) => {
    const callees = ['a', 'b', 'c', 'd', 'e'].map((name) => calls('web', name))
    const services = ['alone', 'a', 'b', 'c', 'd', 'e', 'web'].map((name) => service(name))
    expect(serviceGraph({ services, calls: callees }, { direction }).first?.name).toBe('web')
    expect(serviceGraph({ services: [], calls: [] }, { direction }).first).toBeUndefined()
  })

  test('callers lie left of what they call, and no two places overlap', () => {
    const { nodes, edges, width, height } = serviceGraph({
      services: [service('pay', 2), service('shop'), service('web'), service('alone')],
      calls: [calls('web', 'shop'), calls('shop', 'pay'), calls('pay', 'db', 'database'), calls('web', 'pay')],
    })
    const xOf = (name: string) => nodes.find((node) => node.name === name)?.x ?? Number.NaN
    expect(xOf('web') < xOf('shop') && xOf('shop') < xOf('pay') && xOf('pay') < xOf('db')).toBe(true)
    expect(nodes.map(({ name, spans, errors }) => [name, spans, errors])).toEqual([
      ['web', 10, 0],
      ['shop', 10, 0],
      ['pay', 10, 2],
      ['db', undefined, 0],
      ['alone', 10, 0],
    ])
    expect(edges).toHaveLength(4)
    for (const { points } of edges) expect(points.length).toBeGreaterThan(1)
    for (const [at, one] of nodes.entries()) {
      expect(one.x >= 0 && one.y >= 0 && one.x <= width && one.y <= height).toBe(true)
      for (const other of nodes.slice(at + 1))
        expect(Math.abs(one.x - other.x) >= NODE_WIDTH || Math.abs(one.y - other.y) >= NODE_HEIGHT).toBe(true)
    }
  })

  test('services that call each other, and a queue with the name of a service, are placed', () => {
    const { nodes, edges } = serviceGraph({
      services: [service('a'), service('b')],
      calls: [calls('a', 'b'), calls('b', 'a'), calls('a', 'b', 'queue')],
    })
    expect(nodes.map(({ name, kind }) => `${kind} ${name}`)).toEqual(['service a', 'service b', 'queue b'])
    expect(edges.every(({ points }) => points.length > 1)).toBe(true)
  })

  test('around one service, others without calls are left out', () => {
    const around = serviceGraph({ services: [service('a'), service('b'), service('c')], calls: [calls('a', 'b')] }, { only: 'a' })
    expect(around.nodes.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  test('on a narrow screen callers lie above what they call, and services without calls in two columns', () => {
    const { nodes, width } = serviceGraph(
      { services: ['pay', 'shop', 'web', 'a', 'b', 'c'].map((name) => service(name)), calls: [calls('web', 'shop'), calls('shop', 'pay')] },
      { direction: 'down' },
    )
    const [web, shop, pay] = ['web', 'shop', 'pay'].map((name) => nodes.find((node) => node.name === name)?.y ?? Number.NaN)
    expect([web, shop, pay]).toEqual([web, shop, pay].toSorted((one = 0, other = 0) => one - other))
    expect(width).toBeLessThan(390)
  })

  test('200 services with 500 calls are placed', () => {
    const services = Array.from({ length: 200 }, (_, at) => service(`s${at}`))
    const many = Array.from({ length: 500 }, (_, at) => calls(`s${at % 200}`, `s${(at * 7 + 1) % 200}`))
    expect(serviceGraph({ services, calls: many }).nodes).toHaveLength(200)
  })
})

test.each([
  [[], ''],
  [[{ x: 1, y: 2 }], 'M 1 2'],
  [
    [
      { x: 0, y: 0 },
      { x: 10, y: 4 },
    ],
    'M 0 0 L 10 4',
  ],
  [
    [
      { x: 0, y: 0 },
      { x: 10, y: 4 },
      { x: 20, y: 0 },
    ],
    'M 0 0 Q 10 4 15 2 L 20 0',
  ],
])('a line through %j', (points, path) => {
  expect(pathThrough(points)).toBe(path)
})
