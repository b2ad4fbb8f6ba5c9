import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanName, foreignName, readRouting, readTags } from './intake/routing.ts'

const read = (headers: Record<string, string>, query: Record<string, string> = {}, extra: string[] = []) =>
  readRouting({ headers, query }, extra)

test('headers say where events go, query parameters where there are none, and other prefixes where the deployment has some', () => {
  expect(read({})).toEqual({ collection: undefined, dataset: undefined, tags: {} })
  expect(read({ 'x-service-collection': ' shop ', 'x-service-dataset': 'web/eu' })).toMatchObject({ collection: 'shop', dataset: 'web/eu' })
  expect(read({ 'x-service-dataset': 'header' }, { dataset: 'query', collection: 'c' })).toMatchObject({
    collection: 'c',
    dataset: 'header',
  })
  expect(read({ 'x-acme-dataset': 'theirs' }, {}, ['x-acme-'])).toMatchObject({ dataset: 'theirs' })
  expect(read({ 'x-acme-dataset': 'theirs' })).toMatchObject({ dataset: undefined })
  expect(read({ 'x-service-dataset': 'ours', 'x-acme-dataset': 'theirs' }, {}, ['x-acme-'])).toMatchObject({ dataset: 'ours' })
})

test('headers of cloud forwarders name the service where no routing header names a dataset', () => {
  const forwarded = { 'x-acme-service-name': 'shop', 'x-acme-service-namespace': 'prod' }
  expect(read(forwarded)).toMatchObject({ dataset: 'shop', collection: 'prod' })
  expect(read({ ...forwarded, 'x-service-dataset': 'own' })).toMatchObject({ dataset: 'own', collection: 'prod' })
  expect(read(forwarded, { dataset: 'query' })).toMatchObject({ dataset: 'query' })
  expect(read({ 'x-acme-service-name': ' ' })).toMatchObject({ dataset: undefined })
  expect(() => read({ 'x-acme-service-name': '.usage' })).toThrow('must not begin with a dot')
})

test('names are trimmed, lose control characters, and are cut at 255 characters', () => {
  expect(cleanName(' a\u0000b\u0007\tc ')).toBe('abc')
  expect(cleanName(' \t ')).toBeUndefined()
  expect(cleanName('x'.repeat(300))).toHaveLength(255)
  expect(cleanName(`${'x'.repeat(254)}\u{1f332}`)).toBe('x'.repeat(254))
  expect(cleanName('lone \ud800 half')).toBe('lone \ufffd half')
  expect(read({ 'x-service-dataset': Buffer.from('Bäume').toString('latin1') }).dataset).toBe('Bäume')
})

test('names that begin with a dot belong to the system', () => {
  for (const name of ['x-service-collection', 'x-service-dataset']) {
    expect(() => read({ [name]: ' .usage' })).toThrow('must not begin with a dot')
  }
  expect(foreignName('..hidden')).toBe('hidden')
  expect(foreignName('...')).toBeUndefined()
})

test('tags are pairs; invalid ones are ignored', () => {
  expect(readTags('env=prod, team = payments ,$region=eu,=x,y=,z,a=b=c')).toEqual({ env: 'prod', team: 'payments', region: 'eu', a: 'b=c' })
  expect(Object.keys(readTags(Array.from({ length: 500 }, (_, index) => `k${index}=v`).join(',')))).toHaveLength(100)
  expect(Object.keys(readTags('__proto__=1,constructor=2'))).toEqual(['__proto__', 'constructor'])
})

test('names are valid for any input', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      for (const name of [cleanName(text), foreignName(text), ...Object.entries(readTags(text)).flat()]) {
        if (name === undefined) continue
        expect(name.length).toBeGreaterThan(0)
        expect(name.length).toBeLessThanOrEqual(255)
        expect(name.isWellFormed()).toBe(true)
        expect(name).toBe(name.trim())
        expect(/\p{Cc}/u.test(name)).toBe(false)
      }
    }),
  )
})
