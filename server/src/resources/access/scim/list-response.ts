import { isObject } from '../../../kernel/json-object.ts'
import { type AttributePath, memberOf, ownName, readAttributePath, type ScimObject } from './attribute-path.ts'
import { matches, readFilter, type ScimFilter } from './filter.ts'
import { ScimFailure } from './scim-failure.ts'

/** The parameters of a read: which resources, and which of their attributes. */
export type ScimQuery = {
  filter: ScimFilter | undefined
  startIndex: number
  count: number
  attributes: readonly AttributePath[] | undefined
  excluded: readonly AttributePath[]
}

const COUNT = 100
export const COUNT_MAX = 1_000
const ALWAYS = ['schemas', 'id']

export function readScimQuery(query: Readonly<Record<string, string>>): ScimQuery {
  const given = new Map(Object.entries(query).map(([name, value]) => [name.toLowerCase(), value]))
  for (const name of ['sortby', 'sortorder']) if (given.has(name)) throw new ScimFailure('invalidValue', `${name} is not supported`)
  const filter = given.get('filter')
  const attributes = given.get('attributes')
  return {
    filter: filter === undefined || filter.trim() === '' ? undefined : readFilter(filter),
    startIndex: Math.max(1, wholeNumber('startIndex', given.get('startindex'), 1)),
    count: Math.min(COUNT_MAX, Math.max(0, wholeNumber('count', given.get('count'), COUNT))),
    attributes: attributes === undefined || attributes === '' ? undefined : pathsOf('attributes', attributes),
    excluded: pathsOf('excludedAttributes', given.get('excludedattributes') ?? ''),
  }
}

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined || text === '') return otherwise
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimFailure('invalidValue', `${name} must be a whole number`)
  return Number(text)
}

const pathsOf = (parameter: string, text: string): AttributePath[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => {
      const path = readAttributePath(one)
      if (!path) throw new ScimFailure('invalidValue', `${parameter} names no attribute: ${one.slice(0, 100)}`)
      return path
    })

/** One page of the resources that match. */
export function listResponse(resources: readonly ScimObject[], query: ScimQuery): ScimObject {
  const { filter, startIndex, count } = query
  const matching = filter ? resources.filter((resource) => matches(filter, resource)) : resources
  const page = matching.slice(startIndex - 1, startIndex - 1 + count)
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: matching.length,
    startIndex,
    itemsPerPage: page.length,
    Resources: page.map((resource) => withAttributes(resource, query)),
  }
}

/** A resource with the requested attributes only. */
export function withAttributes(resource: ScimObject, { attributes, excluded }: ScimQuery): ScimObject {
  if (attributes) {
    const chosen: ScimObject = {}
    for (const path of [...ALWAYS.map((name) => [name]), ...attributes]) copyAt(resource, chosen, path)
    return chosen
  }
  if (excluded.length === 0) return resource
  const left = structuredClone(resource)
  for (const path of excluded) if (!ALWAYS.includes(path[0]?.toLowerCase() ?? '')) removeAt(left, path)
  return left
}

function copyAt(from: ScimObject, to: ScimObject, [name = '', ...rest]: AttributePath): void {
  const own = ownName(from, name)
  const value = own === undefined ? undefined : from[own]
  if (own === undefined || value === undefined) return
  if (rest.length === 0 || !(isObject(value) || Array.isArray(value))) to[own] = value
  else if (Array.isArray(value)) {
    const earlier = to[own]
    to[own] = value.map((element, at) => {
      const copied = Array.isArray(earlier) && isObject(earlier[at]) ? earlier[at] : {}
      if (isObject(element)) copyAt(element, copied, rest)
      return copied
    })
  } else {
    const held = to[own]
    const copied = isObject(held) ? held : {}
    to[own] = copied
    copyAt(value, copied, rest)
  }
}

function removeAt(from: ScimObject, [name = '', ...rest]: AttributePath): void {
  if (rest.length === 0) {
    const own = ownName(from, name)
    if (own !== undefined) delete from[own]
    return
  }
  const value = memberOf(from, name)
  for (const one of Array.isArray(value) ? value : [value]) if (isObject(one)) removeAt(one, rest)
}
