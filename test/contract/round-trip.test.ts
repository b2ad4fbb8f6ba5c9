import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { fromText, pathNames, toText } from '../../api/src/index.ts'
import { endpoints, type Named } from './endpoints.ts'
import type { Ask } from './examples.ts'
import { exampleFor, pathFor, withBody } from './requests.ts'
import { rootObjectsOf } from './schemas.ts'
import { openStage, type Stage } from './stage.ts'

/** Whatever a read returns, a write of the same record takes, and keeps. Numbers travel as they are written: no digit is lost. */

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.app.close())

type Value = Record<string, unknown>
type ExactReply = { status: number; body: Value }

/** Like a client with 64-bit integers. */
async function send(method: string, path: string, body?: unknown, raw?: string): Promise<ExactReply> {
  const response = await fetch(stage.app.url + path, {
    method,
    headers: { 'x-service-api-key': stage.own.org.key, 'content-type': 'application/json' },
    ...(body === undefined && raw === undefined ? {} : { body: raw ?? toText(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text.startsWith('{') ? fromText(text) : {}) as Value }
}

/** Endpoints that change one record, which another endpoint shows under the same path or in the list above it. */
const updates = withBody.flatMap((named) => {
  const { method, path } = named.endpoint
  if ((method !== 'PUT' && method !== 'PATCH') || pathNames(path).length === 0) return []
  const readerAt = (at: string) => endpoints.find(({ endpoint }) => endpoint.method === 'GET' && endpoint.path === at && endpoint.reply)
  const one = readerAt(path)
  const list = one ? undefined : readerAt(path.replace(/\/\{\w+\}$/, ''))
  return one || list ? [{ name: named.name, named, one, list }] : []
})

type Update = (typeof updates)[number]

async function recordOf({ named, one, list }: Update, ask: Ask): Promise<Value> {
  if (one) {
    const reply = await send('GET', pathFor(one, { ...(ask.params ? { params: ask.params } : {}) }))
    expect(reply.status, toText(reply.body)).toBe(200)
    return reply.body
  }
  const { body } = await send('GET', list?.endpoint.path ?? '')
  const id = Object.values(ask.params ?? {}).at(-1)
  const rows = Object.values(body).find(Array.isArray) as Value[] | undefined
  const found = rows?.find((row) => Object.values(row).includes(id))
  if (!found) throw new Error(`the list of ${named.name} does not show the record`)
  return found
}

/** The record as a body. Closed objects get the members that they name: they would refuse the others. A member that only wraps the record is left out. */
function bodyFrom(record: Value, { endpoint }: Named): Value {
  const objects = endpoint.body ? rootObjectsOf(endpoint.body) : []
  const isClosed = objects.every((object) => (object.def as { catchall?: z.ZodType }).catchall?.def.type === 'never')
  const names = new Set(objects.flatMap((object) => Object.keys(object.shape)))
  const [wrapped, ...others] = Object.entries(record)
  if (wrapped && others.length === 0 && !names.has(wrapped[0])) return wrapped[1] as Value
  return Object.fromEntries(Object.entries(record).filter(([name]) => !isClosed || names.has(name)))
}

/** Without what the service notes about a change: who and when, and its number. */
const withoutChange = ({ metadata: _, modified_at: __, version: ___, ...record }: Value): Value => record

async function mustTravel(update: Update, ask: Ask): Promise<void> {
  const { named } = update
  const record = await recordOf(update, ask)
  const again = await send(named.endpoint.method, pathFor(named, ask), bodyFrom(record, named))
  expect(again.status, `${toText(record)} was refused: ${toText(again.body)}`).toBeLessThan(300)
  expect(withoutChange(await recordOf(update, ask))).toEqual(withoutChange(record))
}

test('there are records to send back', () => {
  expect(updates.length).toBeGreaterThan(20)
})

describe('a record that was read can be written again', () => {
  test.each(updates)('$name', async (update) => {
    const ask = await exampleFor(update.named, stage.own)
    const changed = await send(update.named.endpoint.method, pathFor(update.named, ask), ask.body)
    expect(changed.status, toText(changed.body)).toBeLessThan(300)
    await mustTravel(update, ask)
  })
})

/** The places of values of a kind in a body. */
function placesOf(value: unknown, is: (value: unknown) => boolean, path: readonly string[] = []): (readonly string[])[] {
  if (is(value)) return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => placesOf(inner, is, [...path, name]))
}

function withValue(value: unknown, [name, ...rest]: readonly string[], next: unknown): unknown {
  if (name === undefined) return next
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === name ? withValue(item, rest, next) : item))
  return { ...(value as Value), [name]: withValue((value as Value)[name], rest, next) }
}

const NUMBERS = ['1e16', '10000000000000001', '-1e16', '1e21', '0.1', '1e-7', '9007199254740993', '123456789012345678901234567890', '1e400']

describe('a number that is accepted can be read and written again, and none is a failure of the service', () => {
  const isNumber = (value: unknown) => typeof value === 'number'
  test.each(updates)('$name', async (update) => {
    const ask = await exampleFor(update.named, stage.own)
    for (const place of placesOf(ask.body, isNumber))
      for (const digits of NUMBERS) {
        const raw = toText(withValue(ask.body, place, '#')).replace('"#"', digits)
        const reply = await send(update.named.endpoint.method, pathFor(update.named, ask), undefined, raw)
        expect(reply.status, `${place.join('.')} = ${digits}: ${toText(reply.body)}`).toBeLessThan(500)
        if (reply.status < 300) await mustTravel(update, ask)
      }
  })
})

describe('no number in place of a value is a failure of the service', () => {
  const isLeaf = (value: unknown) => typeof value !== 'object' || value === null
  test.each(withBody)('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    for (const place of placesOf(ask.body, isLeaf))
      for (const digits of ['9007199254740993', '1e400']) {
        const raw = toText(withValue(ask.body, place, '#')).replace('"#"', digits)
        const reply = await send(named.endpoint.method, pathFor(named, ask), undefined, raw)
        // Without a model, texts cannot be proposed.
        if (reply.status === 503 && named.name === 'notifications.suggest') continue
        expect(reply.status, `${place.join('.')} = ${digits}: ${toText(reply.body)}`).toBeLessThan(500)
      }
  })
})

describe('values of any form are kept to the last digit', () => {
  const free = withBody.filter(
    ({ name, endpoint }) =>
      endpoint.reply !== undefined &&
      name.endsWith('.create') &&
      endpoint.body &&
      rootObjectsOf(endpoint.body).some(({ shape }) => shape.aux),
  )

  test('there are some', () => {
    expect(free.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['monitors.create', 'monitorTemplates.create', 'widgets.create', 'widgetTemplates.create']),
    )
  })

  test.each(free)('$name', async (named) => {
    const ask = await exampleFor(named, stage.own)
    const aux = { large: 9007199254740993n, deep: { list: [-123456789012345678901234567890n, 0.1, 'a\\u0000b'] }, none: null }
    const made = await send('POST', named.endpoint.path, { ...(ask.body as Value), aux })
    expect(made.status, toText(made.body)).toBe(201)
    expect(made.body.aux).toEqual(aux)
    expect((await send('GET', `${named.endpoint.path}/${made.body.id}`)).body.aux).toEqual(aux)
    const audited = await send('GET', `/audit?entity_id=${made.body.id}`)
    expect((audited.body.audit as { after: Value }[])[0]?.after.aux).toEqual(aux)
    for (const refused of ['{"a":1e400}', '{"a":"\\u0000"}', '{"a":{"\\u0000":1}}']) {
      const raw = toText({ ...(ask.body as Value), aux: '#' }).replace('"#"', refused)
      const reply = await send('POST', named.endpoint.path, undefined, raw)
      expect([refused, reply.status, (reply.body.details as string).slice(0, 5)]).toEqual([refused, 400, 'aux.a'])
    }
  })
})
