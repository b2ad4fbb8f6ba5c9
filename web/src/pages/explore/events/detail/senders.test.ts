import { expect, test } from 'vitest'
import { isTrace, sendersOf } from './senders.ts'

test.each([
  [{ 'service.name': 'pay', host: 'till-1', trace_id: 'ab' }, {}, ["service.name = 'pay'", "host = 'till-1'", "trace_id = 'ab'"]],
  [{ 'k8s.pod.name': 'pay-7f', 'kubernetes.container_name': 'app' }, {}, ["k8s.pod.name = 'pay-7f'", "kubernetes.container_name = 'app'"]],
  [{ message: 'x' }, { '$service.name': "o'hare" }, ["$service.name = 'o''hare'"]],
  [{ app: 'a', 'resource.service.name': 'b' }, {}, ["app = 'a'"]],
  [{ application_port: '1', hosts: 'many', traced: 'yes', service: '' }, {}, []],
])('%j %j', (message_kvs, attributes, clauses) => {
  expect(sendersOf({ message_kvs, attributes } as Parameters<typeof sendersOf>[0]).map(({ clause }) => clause)).toEqual(clauses)
})

test('a trace is recognized by its condition', () => {
  expect(["trace_id = 'a'", "$trace.id = 'a'", "traceId = 'a'", "service = 'trace_id = 1'"].map(isTrace)).toEqual([true, true, true, false])
})
