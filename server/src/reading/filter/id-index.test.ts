import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lineOf, openReader, type Reader } from '../../../../test/support/reader.ts'
import { openSendersAlone } from '../../../../test/support/senders.ts'
import { lateIndexes } from '../../lines/layout/table.ts'
import { foldCase } from '../../query/like.ts'
import { countMatching, readEvents } from '../reading.ts'

const id = '1c72110548e6ad2a1d6eadb8e895109f'
/** Long enough for its pieces to be searched, and without letters that also match characters beyond ASCII. */
const hash = '9b71d224bd62f3785d96d46ad3ea3d73319bfbc2'
/** Begins with a letter that also ends an escape sequence. */
const token = 'n4711abcdefghjlmopqruvwxyz0123456789'
const uuid = '550e8400-e29b-41d4-a716-446655440000'
/** In values of open maps only, and in a name. */
const other = '1b4e28ba-2fa1-41d2-883f-0016d3cca427'
const named = '6fa459ea-ee8a-4ca4-894e-db77e160355e'
const session = 'k2345678sessionid90'
const lines = [
  `{"message":"took 3 ms","trace":"${id}"}`,
  `{"message":"part of a longer word: x${id}y"}`,
  `{"message":"in a sentence, ${id.toUpperCase()}."}`,
  `{"message":"after an escape: \\u000${id}"}`,
  `{"message":"after a backspace: \\b234567890abcdef1"}`,
  `{"message":"a request","name ${id}":"value"}`,
  `{"message":"sent","id":"${uuid}"}`,
  `{"message":"sent as urn:uuid:${uuid};"}`,
  `{"message":"other case","session":"${session.toUpperCase()}"}`,
  `{"labels":{"${id}":"a","app":"one"},"message":"named"}`,
  `{"labels":{"pod.${id}x":"a","app":"two"},"message":"named"}`,
  `{"labels":{"app":"${uuid}"},"message":"labelled"}`,
  `{"labels":{"app":"uid ${other}, node"},"message":"labelled"}`,
  `{"labels":{"pod-${named}":"a","app":"${other}"},"message":"named"}`,
  `a line of text with ${id} in it`,
  `level=info request_id=${uuid} msg="done"`,
  '{"time":"2026-10-01T12:00:00.123456789Z","message":"late"}',
  `2026-10-01 12:00:01 ERROR: ${id} behind a level`,
  `2026-10-01 12:00:02 [WARN]${id} beside a level`,
  `2026-10-01 12:00:03 INFO`,
]
const needles = [
  id,
  id.slice(0, 20),
  id.slice(3),
  `${id.slice(0, -1)}0`,
  `x${id}`,
  `name ${id}`,
  `, ${id}.`,
  'b234567890abcdef1',
  uuid,
  uuid.slice(4),
  uuid.slice(0, 30),
  `uuid:${uuid};`,
  uuid.replace('e29b', 'e29c'),
  other,
  other.slice(3),
  `uid ${other.toUpperCase()},`,
  named,
  `pod-${named}`,
  session,
  session.slice(1),
  '2026-10-01T12:00:00.123456789',
  '12:00:00.123456789Z',
  `"${id}"`,
  `]${id}`,
  `error: ${id}`,
  `warn]${id.slice(0, 20)}`,
]

/** Events with words around an id, one for each day, so that each has granules and indexes of its own. */
const befores = ['', 'x', 'ab-', '0123456789abcde', '0123456789abcdef', 'é', '\\n', '\\u000', '\\b']
const alone = [
  ...befores.flatMap((before) => ['', 'y', '0123456789abcdef0123'].map((after) => `"message":"${before}${id}${after}"`)),
  ...befores.map((before) => `"message":"${before}${hash.toUpperCase()}é"`),
  ...['', 'x', 'é'].flatMap((before) => [`"labels":{"${before}${id}":"1","app":"a"}`, `"labels":{"app":"${before}${hash}-"}`]),
  ...['', '\\', 'x'].map((before) => `"message":"${before}${token}"`),
  ...[token.slice(1), `\\n${token.slice(1)}0`].map((text) => `"message":"${text}"`),
  ...[`"app":"${other}"`, `"app":"pod ${other}é"`, `"pod-${named}":"1","app":"a"`].map((entries) => `"labels":{${entries}}`),
].map((members, nth) => `{"time":"${new Date(Date.UTC(2025, 0, 1 + nth)).toISOString()}",${members}}`)
const aroundId = [id, `x${id}`, `${id}y`, id.slice(1), `0123456789abcdef${id}`, `n${id}`, `f${id}0123456789`, `${id.slice(0, -1)}0`]
const aroundOthers = [
  other,
  other.slice(2),
  named,
  `${named}1`,
  hash,
  hash.slice(3),
  hash.slice(4, 20),
  `b${hash}`,
  token,
  token.slice(1),
  `${token.slice(1)}0`,
  `${token}0`,
]

/** More lines than one granule has, so that skipping shows. They are of a day of their own, so that they share no granule with other lines. */
const FILLERS = 9_000
const POSTS = 4
/** With the first event, one with an id and one with rare keys. */
const EVENTS = POSTS * FILLERS + 3
/** Its keys are too rare for columns. */
const odd = '{"time":"2026-09-01T12:00:00.250Z","message":"odd","rare":"x","list":["a","b"]}'
/** Its longest word is longer than an id. */
const longFiller = (nth: number) => filler(nth, `${createHash('sha1').update(`${nth}`).digest('hex')}`)
const filler = (nth: number, trace = nth.toString(16).padStart(32, '0')) =>
  `{"time":"2026-09-01T12:00:00.250Z","message":"filler ${nth}","trace":"${trace}"}`

let reader: Reader
beforeAll(async () => {
  // With stores of its own, so that no merge of other events delays the indexes.
  reader = await openReader(await openSendersAlone())
  await reader.send('ids', lines)
  await reader.send('open', ['{"labels":{"app":"first"},"message":"named"}'])
  await reader.openMaps('open', ['labels.'])
  await reader.send('open', lines)
  for (const dataset of ['skipped', 'skipped-open', 'skipped-long']) await reader.send(dataset, [filler(0)])
  await reader.openMaps('skipped-open', ['labels.'])
  for (const dataset of ['skipped', 'skipped-open']) {
    for (let post = 0; post < POSTS; post += 1) {
      const sent = Array.from({ length: FILLERS }, (_, nth) => filler(post * FILLERS + nth + 1))
      await reader.send(dataset, post === 2 ? [...sent, filler(0, id), odd] : sent, { 'x-service-env': 'prod' })
    }
  }
  for (let post = 0; post < POSTS; post += 1) {
    await reader.send(
      'skipped-long',
      Array.from({ length: FILLERS }, (_, nth) => longFiller(post * FILLERS + nth)),
    )
    const sent = Array.from({ length: FILLERS }, (_, nth) => `2026-09-01 12:00:00 INFO [main] filler ${post * FILLERS + nth}`)
    await reader.send('skipped-text', sent)
  }
  await reader.send('alone', ['{"labels":{"app":"first"},"message":"named"}'])
  await reader.openMaps('alone', ['labels.'])
  await reader.send('alone', alone)
  // A merge builds the index of names, and a mutation those of words.
  const { writer } = reader.senders.app.app.world.events
  await writer.command({ query: `optimize table pattern_events_s partition '2026-09-01' final` })
  const commands = lateIndexes.map((index) => `materialize index ${index}`)
  await writer.command({ query: `alter table pattern_events_s ${commands.join(', ')}`, clickhouse_settings: { mutations_sync: '2' } })
})
afterAll(() => reader?.close())

test.each(['ids', 'open'])('an id is found wherever it is in a line: %s', async (dataset) => {
  const { world } = reader.senders.app.app
  const query = await reader.query([dataset])
  for (const needle of needles) {
    const filter = { kind: 'contains', text: needle, at: { position: 0, length: 0 } } as const
    const request = { limit: 100, newestFirst: false, keys: [], withRaw: true } as const
    const { events } = await readEvents(world.events, { ...query, filter }, request)
    const expected = lines.filter((line) => foldCase(line).includes(foldCase(needle)))
    expect(events.map(lineOf).sort(), needle).toEqual(expected.sort())
  }
})

test.each([...aroundId, ...aroundOthers])(
  'an id is found beside and inside other words where the indexes skip events: %s',
  async (needle) => {
    const { world } = reader.senders.app.app
    const query = await reader.query(['alone'])
    const filter = { kind: 'contains', text: needle, at: { position: 0, length: 0 } } as const
    const request = { limit: 100, newestFirst: false, keys: [], withRaw: true } as const
    const { events } = await readEvents(world.events, { ...query, filter }, request)
    const expected = alone.filter((line) => foldCase(line).includes(foldCase(needle)))
    expect(events.map(lineOf).sort()).toEqual(expected.sort())
  },
)

test.each([
  ['skipped', `'${id.slice(0, 30)}00'`],
  ['skipped', `'${uuid}'`],
  ['skipped-open', `'${id.slice(0, 30)}00'`],
  ['skipped-open', `'${uuid}'`],
  ['skipped-text', `'${id.slice(0, 30)}00'`],
  ['skipped-long', `'${id.slice(0, 30)}00'`],
])('a search for an id that no event has skips all events: %s, %s', async (dataset, where) => {
  const words = await reader.events([dataset], "'no such words'")
  const { events, cost } = await reader.events([dataset], where)
  expect([words.events, events]).toEqual([[], []])
  // Both read the same shapes, but only words are searched in all events. The index of words may be wrong for one granule in a hundred.
  expect(words.cost.rows).toBeGreaterThanOrEqual(dataset === 'skipped' || dataset === 'skipped-open' ? EVENTS : POSTS * FILLERS)
  expect(words.cost.rows - cost.rows).toBeGreaterThan(0.4 * EVENTS)
})

test.each([
  ["rare = 'x'", [odd]],
  ["rare != 'y' AND list.1 = 'b'", [odd]],
  ["EXISTS list AND rare LIKE 'x%'", [odd]],
  ["message = 'odd' AND NOT EXISTS nowhere", [odd]],
  ["message = 'odd' AND (rare = 'y' OR list.0 = 'a')", [odd]],
  ["rare = 'x' AND nowhere = 'x'", []],
])('a condition on a rare key is true where it was before there was an index: %s', async (where, found) => {
  for (const dataset of ['skipped', 'skipped-open']) expect(await reader.lines([dataset], where)).toEqual(found)
})

test('a condition on a key that no event has skips all events', async () => {
  const { events, cost } = await reader.events(['skipped-open'], "nowhere = 'x' AND EXISTS rare")
  expect(events).toEqual([])
  // The index of names may be wrong for one granule in a hundred.
  expect(cost.rows).toBeLessThan(EVENTS / 2)
})

const absent = `${id.slice(0, 30)}00`

test.each([
  `trace IN ('${id}', '${absent}')`,
  `trace = '${id}' OR trace = '${absent}'`,
  `trace ILIKE '${id.toUpperCase()}' OR message = '${absent}'`,
  `message LIKE 'filler%' AND (trace = '${id}' OR (trace = '${absent}' AND EXISTS message))`,
])('alternatives that each compare a key with an id skip the events without them: %s', async (where) => {
  const { events, cost } = await reader.events(['skipped'], where)
  expect(events.map(lineOf)).toEqual([filler(0, id)])
  // One alternative has no word, so all events are read.
  const whole = await reader.events(['skipped'], `(${where}) OR message = 'none'`)
  expect(whole.events.map(lineOf)).toEqual([filler(0, id)])
  expect(whole.cost.rows).toBeGreaterThanOrEqual(EVENTS)
  expect(whole.cost.rows - cost.rows).toBeGreaterThan(0.4 * EVENTS)
})

test.each([`trace NOT IN ('${id}', '${absent}')`, `NOT (trace = '${id}' OR trace = '${absent}')`])(
  'the absence of ids is not looked for in the index: %s',
  async (where) => {
    const { world } = reader.senders.app.app
    const { count } = await countMatching(world.events, await reader.query(['skipped'], where))
    // The odd event has no such key.
    expect(count).toBe(EVENTS - (where.startsWith('NOT') ? 1 : 2))
  },
)
