import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contract, type JsonSchema, openApiDocument, resolveShape } from '../../api/src/index.ts'
import { mustFail } from './failure.ts'
import { exampleFor, send, withBody } from './requests.ts'
import { openStage, type Stage } from './stage.ts'

/** Lists of a body: nothing that a caller sends in one is lost without a word. */

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.app.close())

const document = openApiDocument(contract, { servers: [{ url: '/' }] })

/** Lists of free texts, in which an empty item is a field that was left blank. */
const DROPPED = new Set(['select', 'groups', 'from_tags', 'keys', 'redact', 'drop', 'paths', 'units'])
/** Lists of lines, in which an empty item is an empty line. */
const LINES = new Set(['lines'])

type Place = { path: readonly string[]; member: string }

/** The lists of a body; of a list of objects, those of its first item. */
function listsIn(schema: JsonSchema, path: readonly string[] = []): Place[] {
  const resolved = resolveShape(schema, document.components.schemas)
  return Object.entries((resolved.properties ?? {}) as Record<string, JsonSchema>).flatMap(([member, inner]) => {
    const shape = resolveShape(inner, document.components.schemas)
    if (shape.type !== 'array') return listsIn(shape, [...path, member])
    return [{ path: [...path, member], member }, ...listsIn((shape.items ?? {}) as JsonSchema, [...path, member, '0'])]
  })
}

const lists = withBody.flatMap((named) => {
  const { method, path } = named.endpoint
  const operation = document.paths[path]?.[method.toLowerCase()]
  const schema = operation?.requestBody?.content['application/json']?.schema
  return (schema ? listsIn(schema) : []).map((place) => ({ ...named, ...place, law: `${named.name} ${place.path.join('.')}` }))
})

function withList(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return ['']
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === name ? withList(item, rest) : item))
  const object = (value ?? {}) as Record<string, unknown>
  return { ...object, [name]: withList(object[name], rest) }
}

/** Whether the example has the objects in lists on the way to a place. */
function hasItem(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  const inner = (value as Record<string, unknown> | undefined)?.[name]
  return name === '0' && inner === undefined ? false : hasItem(inner, rest)
}

test('there are lists to check', () => {
  expect(lists.length).toBeGreaterThan(50)
})

describe('an empty item of a list of ids, addresses, names or objects is refused by name', () => {
  test.each(lists.filter(({ member }) => !DROPPED.has(member) && !LINES.has(member)))('$law', async (named) => {
    const ask = await exampleFor(named, stage.own)
    if (!hasItem(ask.body, named.path)) return
    const reply = await send(stage, named, { ...ask, body: withList(ask.body, named.path) }, { key: stage.own.org.key })
    const failure = mustFail(reply, 400, named)
    expect(
      failure.errors?.some(({ field }) => field.startsWith(named.path.join('.'))),
      JSON.stringify(failure),
    ).toBe(true)
  })
})

test('the other lists are those that a body has', () => {
  const members = new Set(lists.map(({ member }) => member))
  expect([...DROPPED, ...LINES].filter((member) => !members.has(member))).toEqual([])
})
