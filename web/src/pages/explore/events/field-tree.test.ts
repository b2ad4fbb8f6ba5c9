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

test('every field is in the tree once', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 })
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 12 }), (keys) => {
      const pairs = keys.map((one, at) => [one, String(at)] as const)
      expect(leavesOf(fieldTree(pairs)).toSorted()).toEqual(pairs.map(([one, value]) => `${one}=${value}`).toSorted())
    }),
  )
})
