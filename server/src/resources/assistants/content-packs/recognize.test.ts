import { expect, test } from 'vitest'
import { observeFields } from './observe.ts'
import { contentPacks } from './packs.ts'
import { placeWidgets } from './place-widgets.ts'
import { fieldsToSample, indexFields, recognize } from './recognize.ts'
import { roundUp } from './values.ts'

type Leaves = Record<string, string>

/** The recognized packs, each with the first field of every parameter. */
function recognized(events: readonly Leaves[], more: readonly string[] = [], collection = 'any') {
  const sampled = events.map((leaves) => new Map(Object.entries(leaves)))
  const index = indexFields(new Set([...events.flatMap((leaves) => Object.keys(leaves)), ...more]))
  const sample = { events: events.length, facts: observeFields(sampled, fieldsToSample(contentPacks, index)) }
  return Object.fromEntries(
    recognize(contentPacks, { collection, index, sample }).map(({ pack, fields }) => [
      pack.id,
      Object.fromEntries([...fields].flatMap(([name, [first]]) => (first ? [[name, first.field]] : []))),
    ]),
  )
}

const line = (text: string): Leaves => JSON.parse(text)
const many = (count: number, leaves: Leaves): Leaves[] => Array.from({ length: count }, () => leaves)
const combined = {
  client_ip: '10.0.0.1',
  method: 'GET',
  path: '/',
  protocol: 'HTTP/1.1',
  status: '200',
  bytes: '612',
  user_agent: 'curl/8',
}
const ordinary = { level: 'info', message: 'order placed' }

test.each<[string, Leaves[], Record<string, Leaves>]>([
  [
    'the combined format',
    [combined],
    { 'access-logs': { client: 'client_ip', method: 'method', path: 'path', status: 'status', bytes: 'bytes' } },
  ],
  [
    'nested names below other parts, in camel case',
    [{ 'app.http.statusCode': '200', 'app.http.method': 'GET', 'app.http.url': '/a', 'app.durationMs': '7' }],
    { 'access-logs': { status: 'app.http.statusCode', method: 'app.http.method', path: 'app.http.url', duration: 'app.durationMs' } },
  ],
  [
    'a web server that writes JSON with numbers as texts',
    [
      line(
        '{"remote_addr":"10.0.0.1","request_method":"GET","request_uri":"/","status":"200","body_bytes_sent":"12","request_time":"0.012"}',
      ),
    ],
    {
      'access-logs': {
        status: 'status',
        method: 'request_method',
        path: 'request_uri',
        client: 'remote_addr',
        duration: 'request_time',
        bytes: 'body_bytes_sent',
      },
    },
  ],
  [
    'containers, by attributes',
    [{ '$k8s.pod.name': 'a-1', '$k8s.namespace.name': 'shop', '$k8s.container.name': 'web', message: 'ready' }],
    { kubernetes: { pod: '$k8s.pod.name', namespace: '$k8s.namespace.name', container: '$k8s.container.name' } },
  ],
  [
    'containers with other names and a level',
    [{ 'kubernetes.pod_name': 'a-1', 'kubernetes.pod_namespace': 'shop', 'kubernetes.pod_node_name': 'n1', level: 'warn' }],
    {
      kubernetes: { pod: 'kubernetes.pod_name', namespace: 'kubernetes.pod_namespace', node: 'kubernetes.pod_node_name' },
      application: { level: 'level' },
    },
  ],
  [
    'syslog, which also has a level',
    [{ hostname: 'host-a', appname: 'sshd', procid: '19939', facility: 'auth', level: 'info', message: 'check pass' }],
    { syslog: { host: 'hostname', program: 'appname', process: 'procid', facility: 'facility' } },
  ],
  [
    'the journal of a host',
    [{ _HOSTNAME: 'host-a', SYSLOG_IDENTIFIER: 'sshd', _PID: '1', PRIORITY: '6', MESSAGE: 'ready' }],
    { syslog: { host: '_HOSTNAME', program: 'SYSLOG_IDENTIFIER', process: '_PID' } },
  ],
  [
    'an application with levels as numbers',
    [{ level: '30', service: 'checkout', msg: 'placed', duration: '12.5', 'error.type': 'Timeout' }],
    { application: { level: 'level', service: 'service', duration: 'duration', error: 'error.type' } },
  ],
  ['a name of a user, which is no service', [{ ...ordinary, 'user.name': 'ada' }], { application: { level: 'level' } }],
  [
    'lines of two formats in one dataset',
    [...many(5, combined), ...many(5, { ...ordinary, status: 'shipped' })],
    {
      'access-logs': { client: 'client_ip', method: 'method', path: 'path', status: 'status', bytes: 'bytes' },
      application: { level: 'level' },
    },
  ],
  ['a request in one event of many', [...many(99, ordinary), { ...ordinary, ...combined }], { application: { level: 'level' } }],
  ['a status that is a text', [{ status: 'shipped', method: 'parcel', path: '/dock/4' }], {}],
  ['a method that is no HTTP method', [{ status: '200', method: 'card' }], {}],
  ['a status of another range', [{ status: '0', path: '/jobs/4', client: 'cron' }], {}],
  ['a level that is no severity', [{ level: 'gold', message: 'welcome' }], {}],
  ['text without fields', [{}], {}],
  ['thousands of fields, each in one event', Array.from({ length: 100 }, (_, at) => wide(at)), {}],
])('%s', (_, events, expected) => {
  expect(recognized(events)).toEqual(expected)
})

function wide(at: number): Leaves {
  return Object.fromEntries(Array.from({ length: 50 }, (_, key) => [`f${at * 50 + key}.status`, '200']))
}

test('names alone recognize nothing: without recent events there is no offer', () => {
  expect(recognized([], Object.keys(combined))).toEqual({})
})

test('system datasets are recognized by their collection only', () => {
  expect(recognized([{ level: 'info', action: 'datasets.create' }], [], '.audit-trail')).toEqual({ service: {} })
  expect(recognized([combined], [], '.traces')).toEqual({})
})

test.each([
  [0.0123, 0.02],
  [1, 1],
  [7.5, 8],
  [1_234, 2_000],
  [30, 30],
])('a suggested threshold is rounded up as people choose it: %d becomes %d', (value, expected) => {
  expect(roundUp(value)).toBe(expected)
})

test('widgets fill rows of twelve columns, also where one is left out', () => {
  const places = placeWidgets([
    { w: 6, h: 4 },
    { w: 4, h: 5 },
    { w: 4, h: 5 },
    { w: 12, h: 3 },
  ])
  expect(places).toEqual([
    { x: 0, y: 0, w: 6, h: 5 },
    { x: 6, y: 0, w: 6, h: 5 },
    { x: 0, y: 5, w: 12, h: 5 },
    { x: 0, y: 10, w: 12, h: 3 },
  ])
})

test('every placeholder of a pack names one of its parameters, and every pack has its parts', () => {
  for (const pack of contentPacks) {
    const names = pack.parameters.map(({ name }) => name)
    const queries = [...pack.widgets, ...pack.monitors].flatMap((part) => part.queries)
    const used = queries.flatMap(({ select, where = '', groups = [] }) => [...[select, where, ...groups].join(' ').matchAll(/\{(\w+)\}/g)])
    expect(
      used.map(([, name = '']) => name).filter((name) => !names.includes(name)),
      pack.id,
    ).toEqual([])
    expect(
      pack.monitors.flatMap(({ threshold }) => (typeof threshold === 'string' && !names.includes(threshold) ? [threshold] : [])),
    ).toEqual([])
    expect(pack.widgets.length, pack.id).toBeGreaterThanOrEqual(6)
    expect(pack.widgets.length, pack.id).toBeLessThanOrEqual(8)
    expect(pack.monitors.length, pack.id).toBeGreaterThanOrEqual(2)
    expect(pack.monitors.length, pack.id).toBeLessThanOrEqual(4)
  }
})
