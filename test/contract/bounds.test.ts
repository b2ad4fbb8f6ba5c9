import { expect, test } from 'vitest'
import { z } from 'zod'
import { endpoints } from './endpoints.ts'

type Schema = { [keyword: string]: unknown }

/** unbounded names the lists and maps in a schema that may have any number of entries. */
function unbounded(schema: unknown, at: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((inner) => unbounded(inner, at))
  if (typeof schema !== 'object' || schema === null) return []
  const { type, maxItems, maxProperties, additionalProperties, ...rest } = schema as Schema
  const isFree = type === 'array' ? maxItems === undefined : isMap(additionalProperties) && maxProperties === undefined
  const inner = Object.entries({ ...rest, additionalProperties }).flatMap(([name, value]) => unbounded(value, `${at}.${name}`))
  return isFree ? [at, ...inner] : inner
}

const isMap = (names: unknown): boolean => typeof names === 'object' && names !== null && Object.keys(names).length > 0

test('every list and map in a body or query has a bound, so that nobody makes us examine millions of entries', () => {
  const found = endpoints.flatMap(({ name, endpoint }) =>
    [endpoint.body, endpoint.query].flatMap((schema) =>
      schema ? unbounded(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), name) : [],
    ),
  )
  expect(found).toEqual([])
})
