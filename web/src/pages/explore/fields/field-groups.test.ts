import { expect, test } from 'vitest'
import type { Field } from '../../../parts/query/fields.ts'
import { cutName, groupFields, type ListedNode, leadingFields, matchingFields } from './field-groups.ts'

const fieldsOf = (...names: string[]): Field[] => names.map((name, at) => ({ name, count: 1_000 - at, values: [] }))
const outline = (nodes: readonly ListedNode[]): unknown[] =>
  nodes.map((node) => (node.kind === 'field' ? node.name : { [`${node.name} ${node.size}`]: outline(node.members) }))

test('fields are grouped by prefix with their number, the most frequent first', () => {
  const names = ['message', 'http.status', 'kubernetes.pod.name', 'kubernetes.pod.ip', 'http.path', 'alone.in.its.prefix']
  expect(outline(groupFields(fieldsOf(...names)))).toEqual([
    'message',
    { 'http 2': ['status', 'path'] },
    { 'kubernetes.pod 2': ['name', 'ip'] },
    'alone.in.its.prefix',
  ])
})

test('two thousand fields become few groups', () => {
  const names = Array.from({ length: 2_000 }, (_, at) => `team${at % 20}.part${at % 5}.key${at}`)
  const groups = groupFields(fieldsOf(...names))
  expect(groups).toHaveLength(20)
  expect(groups.reduce((sum, node) => sum + (node.kind === 'group' ? node.size : 1), 0)).toBe(2_000)
})

test('service and level come first, however rare', () => {
  const names = ['message', 'zone', 'level', 'service.version', 'service.name']
  expect(leadingFields(fieldsOf(...names)).map(({ name }) => name)).toEqual(['service.name', 'level'])
})

test('a search finds all words in any order, and a long name keeps its end', () => {
  const names = ['kubernetes.pod.name', 'kubernetes.node.name', 'pod']
  expect(matchingFields(fieldsOf(...names), 'name pod').map(({ name }) => name)).toEqual(['kubernetes.pod.name'])
  expect(matchingFields(fieldsOf(...names), ' ')).toHaveLength(3)
  expect(cutName('level')).toEqual({ head: 'level', tail: '' })
  expect(cutName('kubernetes.labels.app.kubernetes.io/name')).toEqual({ head: 'kubernetes.labels.app.kubern', tail: 'etes.io/name' })
})
