import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { check } from '../../server/src/http/validation.ts'
import { endpoints } from './endpoints.ts'
import { objectsIn, optionalMembers } from './schemas.ts'

describe('null for an optional member is the same as leaving it out, unless the contract gives null a meaning', () => {
  const members = endpoints.flatMap(({ name, endpoint }) =>
    (endpoint.body ? objectsIn(endpoint.body) : []).flatMap((object) =>
      optionalMembers(object).map((member) => ({ law: name, ...member })),
    ),
  )

  test('there are members to check', () => {
    expect(members.length).toBeGreaterThan(200)
  })

  test('each of them', () => {
    const broken = members.flatMap(({ law, name, schema }) => {
      const object = z.object({ [name]: schema })
      try {
        expect(check(object, { [name]: null }, 'body')).toEqual(check(object, {}, 'body'))
        return []
      } catch (thrown) {
        return [`${law} ${name}: ${thrown instanceof Error ? thrown.message.split('\n')[0] : thrown}`]
      }
    })
    expect(broken).toEqual([])
  })
})

const Body = z.object({
  name: z.string(),
  inner: z.object({ size: z.int().optional() }).optional(),
  choice: z.union([z.object({ a: z.int(), b: z.int().optional() }), z.object({ c: z.string() })]).optional(),
  list: z.array(z.object({ word: z.string().optional() })).optional(),
  cleared: z.string().nullable().optional(),
  free: z.unknown().optional(),
})

test('null values are omitted at any depth', () => {
  const given = { name: 'x', inner: { size: null }, choice: { a: 1, b: null }, list: [{ word: null }, { word: 'y' }] }
  expect(check(Body, given, 'body')).toEqual({ name: 'x', inner: {}, choice: { a: 1 }, list: [{}, { word: 'y' }] })
})

test('null stays where the contract gives it a meaning, and a list keeps its items', () => {
  expect(check(Body, { name: 'x', cleared: null, free: null }, 'body')).toEqual({ name: 'x', cleared: null, free: null })
  expect(() => check(Body, { name: 'x', list: [null] }, 'body')).toThrow('list.0 must be an object')
})

test('a required member that is null is reported by name', () => {
  expect(() => check(Body, { name: null }, 'body')).toThrow('name is required')
  expect(() => check(Body, null, 'body')).toThrow('body is required')
})
