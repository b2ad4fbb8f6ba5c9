/** The records of one post. */
export const EVENTS = 5_000

export const words = [
  'cart',
  'order',
  'user',
  'session',
  'payment',
  'timeout',
  'refused',
  'completed',
  'after',
  'retry',
  'für',
  'in',
  'from',
]
export const sentence = (n: number): string => Array.from({ length: 12 }, (_, at) => words[(n * 7 + at * (n % 5)) % words.length]).join(' ')
export const hex = (n: number, digits: number): string =>
  (BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).slice(-digits).padStart(digits, '0')
export const timeMs = (n: number): number => 1_735_689_600_000 + n * 7

const attribute = (key: string, value: unknown) => ({ key, value })
export const flatRecord = (n: number) => ({
  timeUnixNano: `${timeMs(n)}123456`,
  observedTimeUnixNano: `${timeMs(n)}999999`,
  severityNumber: 9,
  severityText: 'INFO',
  body: { stringValue: `${sentence(n)} id=${n}` },
  attributes: [
    attribute('http.request.method', { stringValue: 'GET' }),
    attribute('http.response.status_code', { intValue: '200' }),
    attribute('url.path', { stringValue: `/api/carts/${n}/items` }),
    attribute('client.address', { stringValue: `10.0.${n % 250}.${n % 99}` }),
    attribute('duration_ms', { doubleValue: (n % 1_000) / 8 }),
    attribute('code.line.number', { intValue: String(n % 400) }),
  ],
  flags: 1,
  traceId: hex(n, 32),
  spanId: hex(n, 16),
})
const resource = {
  attributes: ['service.name', 'service.namespace', 'host.name', 'k8s.pod.name'].map((key) => attribute(key, { stringValue: `${key}-1` })),
}
export const numbers = Array.from({ length: EVENTS }, (_, n) => n)

/** A record whose body is a map with nested lists and maps. */
export const nestedRecord = (n: number) => ({
  timeUnixNano: `${timeMs(n)}123456`,
  severityText: 'INFO',
  body: {
    kvlistValue: {
      values: [
        attribute('message', { stringValue: sentence(n) }),
        attribute('took', { doubleValue: n / 8 }),
        attribute('done', { boolValue: n % 2 }),
        attribute('ids', { arrayValue: { values: [1, 2, 3].map((id) => ({ intValue: String(n * id) })) } }),
        attribute('user', {
          kvlistValue: { values: [attribute('name', { stringValue: `ada-${n}` }), attribute('team', { stringValue: 'für' })] },
        }),
      ],
    },
  },
  attributes: [attribute('url.path', { stringValue: `/api/carts/${n}/items` })],
})

/** A post of one record for each number. */
export const logsOf = (record: (n: number) => unknown) => ({
  resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'app', version: '1' }, logRecords: numbers.map(record) }] }],
})
