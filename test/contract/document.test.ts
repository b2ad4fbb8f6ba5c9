import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Contract, contract, type JsonSchema, openApiDocument } from '../../api/src/index.ts'
import { endpoints } from './endpoints.ts'
import { objectsIn, rootObjectsOf } from './schemas.ts'

/** Laws of the OpenAPI document as generators of clients in other languages read it. */

const document = openApiDocument(contract, { servers: [{ url: '/' }] })

describe('optional members of a request are not required in the document', () => {
  const objects = endpoints.flatMap(({ name, endpoint }) =>
    [endpoint.params, endpoint.query, endpoint.body].flatMap((schema) =>
      schema ? objectsIn(schema).map((object) => ({ name, object })) : [],
    ),
  )

  test('there are objects to check', () => {
    expect(objects.length).toBeGreaterThan(100)
  })

  test('each member of each of them', () => {
    const wrong = objects.flatMap(({ name, object }) => {
      const shown = z.toJSONSchema(object, { io: 'input', unrepresentable: 'any' })
      const { required = [] } = shown.$ref === undefined ? shown : (shown.$defs?.[shown.$ref.slice('#/$defs/'.length)] ?? {})
      return Object.entries(object.shape as Record<string, z.ZodType>)
        .filter(([member, schema]) => schema.safeParse(undefined).success === required.includes(member))
        .map(([member]) => `${name} ${member}`)
    })
    expect(wrong).toEqual([])
  })
})

/**
 * The regular expressions that mean the same in RE2 (Go, Rust), Python, Java and JavaScript: literal text, classes of ASCII characters, `\x00` to
 * `\xff`, groups, alternatives and bounded repetition. The short classes (`\d`, `\w`, `\s`) include other scripts in some, and classes of Unicode
 * (`\p{…}`), look-around, back references and `\u` do not compile in all.
 */
const COMMON =
  /^\^(?:[\w:@=,/ -]|\\[.+*?()[\]{}|^$/\\-]|\\x[\da-f]{2}|\[(?:\^?)(?:[\w:@=,/+. -]|\\[.\]\\^-]|\\x[\da-f]{2})+\]|\((?:\?:|(?!\?))|\)|[|*+?]|\{\d{1,3}(?:,\d{0,3})?\})*\$$/

describe('the patterns of the document', () => {
  const patterns = partsOf(document, '').flatMap(({ at, part }) =>
    typeof part.pattern === 'string' ? [{ at, pattern: part.pattern }] : [],
  )

  test('mean the same in the languages of clients', () => {
    expect(patterns.length).toBeGreaterThan(5)
    expect(patterns.filter(({ pattern }) => !COMMON.test(pattern))).toEqual([])
  })

  test.each(['^\\P{Cc}*$', '^\\d+$', '^(?=a)b$', '^(?<name>a)$', '^(a)\\1$', '^\\u0000$', 'a', '^[\\w.]+$', '^a{1,2000}$', '^(?i)a$'])(
    'the law refuses %s',
    (pattern) => {
      expect(COMMON.test(pattern)).toBe(false)
    },
  )

  test('lose no flag on their way into the document', () => {
    const flags = endpoints.flatMap(({ name, endpoint }) =>
      [endpoint.params, endpoint.query, endpoint.body, endpoint.reply].flatMap((schema) => (schema ? flagsIn(schema, name) : [])),
    )
    expect(flags).toEqual([])
  })

  function flagsIn(schema: z.ZodType, name: string): string[] {
    const found: string[] = []
    const override: NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'] = ({ zodSchema, jsonSchema }) => {
      if (jsonSchema.format !== undefined) return
      const { patterns } = zodSchema._zod.bag as { patterns?: ReadonlySet<RegExp> }
      for (const pattern of patterns ?? []) if (pattern.flags !== '') found.push(`${name} ${pattern}`)
    }
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override })
    return found
  }
})

test('a list of types holds one type and null, which generators of clients know', () => {
  const lists = partsOf(document, '').filter(({ part }) => Array.isArray(part.type) && part.type.filter((one) => one !== 'null').length > 1)
  expect(lists.map(({ at }) => at)).toEqual([])
})

test('no schema has the name that generators give to a member of another one', () => {
  const { schemas } = document.components
  const isNamed = (schema: JsonSchema) => schema.$ref !== undefined
  const taken = (name: string, schema: JsonSchema): string[] =>
    Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).flatMap(([member, inner]) => {
      const own = `${name}${member.replaceAll(/(?:^|[_\W]+)(\w)/g, (_, initial: string) => initial.toUpperCase())}`
      return [...(schemas[own] && !isNamed(inner) ? [own] : []), ...taken(own, inner)]
    })
  expect(Object.entries(schemas).flatMap(([name, schema]) => taken(name, schema))).toEqual([])
})

/** Every object in a part of the document, with its location. */
function partsOf(part: unknown, at: string): { at: string; part: JsonSchema }[] {
  if (typeof part !== 'object' || part === null) return []
  return [{ at, part: part as JsonSchema }, ...Object.entries(part).flatMap(([name, inner]) => partsOf(inner, `${at}/${name}`))]
}

/** Members that are given at creation and cannot change, each with its reason. */
const FIXED: Readonly<Record<string, string>> = {
  'dashboards.template': 'where the record comes from; `detach-from-template` ends it',
  'encryptionKeys.id': 'an id',
  'encryptionKeys.provider': 'another key is another record',
  'encryptionKeys.aws_kms': 'another key is another record',
  'lookupTables.name': 'rules name a table by it',
  'lookupTables.key': 'another key is another table',
  'logs.tags': 'the deprecated form of a dataset; `/tags` and `PUT /datasets/{datasetId}` change them',
  'logs.retention': 'the deprecated form of a dataset; `PUT /datasets/{datasetId}` changes it',
  'monitors.template': 'where the record comes from',
  'monitors.tags': 'the specification lists the members of the update; `/tags` changes them',
  'organizations.region': 'a deployment serves one region',
  'savedSearches.tags': '`/tags` changes them',
  'savedSearches.template': 'where the record comes from',
  'users.email': 'names the account',
  'users.tags': '`/tags` changes them',
}

test('an update takes every member of a record that its creation takes, unless the record cannot change there', () => {
  const keysOf = (schema: z.ZodType | undefined) => new Set(schema ? rootObjectsOf(schema).flatMap(({ shape }) => Object.keys(shape)) : [])
  const left = Object.entries(contract as Contract).flatMap(([noun, group]) => {
    const { create } = group
    const update = Object.values(group).find(
      ({ method, path }) => ['PUT', 'PATCH'].includes(method) && path.startsWith(`${create?.path}/{`),
    )
    if (!create?.body || !update?.body) return []
    const [shown, taken] = [keysOf(create.reply), keysOf(update.body)]
    return [...keysOf(create.body)].filter((member) => shown.has(member) && !taken.has(member)).map((member) => `${noun}.${member}`)
  })
  expect(left).toEqual(Object.keys(FIXED))
})
