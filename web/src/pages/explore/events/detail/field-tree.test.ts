import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FieldNode, fieldTree, nestedJson } from './field-tree.ts'

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
  expect(JSON.parse(nestedJson(tree))).toEqual({
    http: { method: 'GET', status: '200', 'url.path': '/a' },
    level: 'info',
    'trace.id': '1',
  })
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
