import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FieldBranch, FieldNode } from './field-node.ts'
import { fieldTree, nestedJson } from './field-tree.ts'

const leavesOf = (nodes: readonly FieldNode[]): string[] =>
  nodes.flatMap((node) => (node.kind === 'leaf' ? [`${node.path}=${node.value}`] : leavesOf(node.inner)))

test('fields with a common prefix are nested, single ones stay flat', () => {
  const tree = fieldTree([
    ['http.method', 'GET'],
    ['http.status', '200'],
    ['http.url.path', '/a'],
    ['level', 'info'],
    ['trace.id', '1'],
  ])
  expect(tree).toMatchObject([
    {
      kind: 'branch',
      name: 'http',
      leaves: 3,
      inner: [{ name: 'method' }, { name: 'status' }, { name: 'url.path', path: 'http.url.path' }],
    },
    { kind: 'leaf', name: 'level' },
    { kind: 'leaf', name: 'trace.id', path: 'trace.id' },
  ])
  expect(JSON.parse(nestedJson(tree[0] as FieldBranch))).toEqual({ method: 'GET', status: '200', 'url.path': '/a' })
})

test('an array is a branch of its elements, with their numbers as written and the paths that a query reads', () => {
  const json = '[{"sku":"a-1","price":1.50,"tags":["new",null]},7,{}]'
  const [items, other] = fieldTree([
    ['items', json],
    ['no_array', '[not json'],
  ])
  expect(items).toMatchObject({ kind: 'branch', path: 'items', leaves: 6, isArray: true, json })
  expect(leavesOf(items ? [items] : [])).toEqual([
    'items.0.sku=a-1',
    'items.0.price=1.50',
    'items.0.tags.0=new',
    'items.0.tags.1=null',
    'items.1=7',
    'items.2={}',
  ])
  expect(nestedJson(items as FieldBranch)).toBe(json)
  expect(JSON.parse(nestedJson((items as FieldBranch).inner[0] as FieldBranch))).toEqual({
    sku: 'a-1',
    price: '1.50',
    tags: ['new', 'null'],
  })
  expect(other).toEqual({ kind: 'leaf', name: 'no_array', path: 'no_array', value: '[not json' })
})

test('an element beyond those that a query reaches is shown without a condition, and a huge array stays text', () => {
  const [long] = fieldTree([['ids', JSON.stringify(Array.from({ length: 40 }, (_, at) => at))]])
  const leaves = (long as FieldBranch).inner
  expect(leaves.map((one) => one.kind === 'leaf' && one.isReachable !== false)).toEqual(Array.from({ length: 40 }, (_, at) => at < 32))
  expect(fieldTree([['ids', JSON.stringify(Array.from({ length: 600 }, (_, at) => at))]])).toMatchObject([{ kind: 'leaf' }])
})

test('the domain of a Kubernetes label is one name', () => {
  const tree = fieldTree([
    ['app.kubernetes.io/name', 'till'],
    ['app.kubernetes.io/part-of', 'shop'],
    ['k8s.labels.app.kubernetes.io/name', 'till'],
    ['k8s.labels.helm.sh/chart', 'till-1'],
    ['k8s.path./a/b', 'x'],
  ])
  expect(tree).toMatchObject([
    { kind: 'leaf', name: 'app.kubernetes.io/name' },
    { kind: 'leaf', name: 'app.kubernetes.io/part-of' },
    {
      kind: 'branch',
      name: 'k8s',
      inner: [{ name: 'labels', inner: [{ name: 'app.kubernetes.io/name' }, { name: 'helm.sh/chart' }] }, { name: 'path./a/b' }],
    },
  ])
})

test('every field is in the tree once', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/'), maxLength: 8 })
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 12 }), (keys) => {
      const pairs = keys.map((one, at) => [one, String(at)] as const)
      expect(leavesOf(fieldTree(pairs)).toSorted()).toEqual(pairs.map(([one, value]) => `${one}=${value}`).toSorted())
    }),
  )
})
