import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { contract, openApiDocument } from '../../api/src/index.ts'
import { endpoints } from './endpoints.ts'
import { objectsIn } from './schemas.ts'

type Schema = { [keyword: string]: unknown }

/** The lists and maps in a schema without a maximum size. */
function unbounded(schema: unknown, at: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((inner) => unbounded(inner, at))
  if (typeof schema !== 'object' || schema === null) return []
  const { type, maxItems, maxProperties, additionalProperties, ...rest } = schema as Schema
  const isFree = type === 'array' ? maxItems === undefined : isMap(additionalProperties) && maxProperties === undefined
  const inner = Object.entries({ ...rest, additionalProperties }).flatMap(([name, value]) => unbounded(value, `${at}.${name}`))
  return isFree ? [at, ...inner] : inner
}

const isMap = (names: unknown): boolean => typeof names === 'object' && names !== null && Object.keys(names).length > 0

test('every list and map in a body or query has a maximum size', () => {
  const found = endpoints.flatMap(({ name, endpoint }) =>
    [endpoint.body, endpoint.query].flatMap((schema) =>
      schema ? unbounded(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), name) : [],
    ),
  )
  expect(found).toEqual([])
})

/** Every integer in a part of the document, with its location. */
function integersIn(part: unknown, at: string): { at: string; schema: Schema }[] {
  if (typeof part !== 'object' || part === null) return []
  const inner = Object.entries(part).flatMap(([name, value]) => integersIn(value, `${at}.${name}`))
  return (part as Schema).type === 'integer' ? [{ at, schema: part as Schema }, ...inner] : inner
}

describe('every integer of the OpenAPI document states its bounds', () => {
  const document = openApiDocument(contract, { servers: [{ url: '/' }] })
  const integers = integersIn({ paths: document.paths, components: document.components }, '')

  test('by minimum and maximum, or by a format of 64 bits where numbers may be beyond 2^53', () => {
    expect(integers.length).toBeGreaterThan(200)
    const open = integers.filter(({ schema }) => schema.minimum === undefined || schema.maximum === undefined)
    expect(open.filter(({ schema }) => schema.format !== 'int64').map(({ at }) => at)).toEqual([])
    // In requests only sequence numbers and the ids of JSON-RPC, which are returned unchanged, have 64 bits.
    const given = open.filter(({ at }) => at.startsWith('.paths.')).map(({ at }) => at.split('.')[2])
    expect([...new Set(given)].sort()).toEqual(['/context', '/explain-error', '/mcp', '/search'])
  })

  test('which hold: the integer above and the one below are refused in bodies and queries', () => {
    const members = endpoints.flatMap(({ name, endpoint }) =>
      [endpoint.body, endpoint.query].flatMap((given) =>
        (given ? objectsIn(given) : []).flatMap((object) =>
          Object.entries(object.shape as Record<string, z.ZodType>).map(([member, schema]) => ({ at: `${name} ${member}`, schema })),
        ),
      ),
    )
    const bounded = members.flatMap(({ at, schema }) => {
      const { type, minimum, maximum } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })
      return type === 'integer' && minimum !== undefined && maximum !== undefined ? [{ at, schema, minimum, maximum }] : []
    })
    expect(bounded.length).toBeGreaterThan(50)
    const wrong = bounded.filter(
      ({ schema, minimum, maximum }) =>
        !schema.safeParse(minimum).success ||
        !schema.safeParse(maximum).success ||
        schema.safeParse(minimum - 1).success ||
        schema.safeParse(maximum + 1).success,
    )
    expect(wrong.map(({ at }) => at)).toEqual([])
  })
})
