import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../kernel/json-object.ts'
import { type AttributePath, memberOf, ownName, readAttributePath, type ScimObject } from './attribute-path.ts'
import { matches, readFilter, type ScimFilter } from './filter.ts'
import { ScimFailure } from './scim-failure.ts'

type Verb = 'add' | 'replace' | 'remove'
/** `filter` chooses elements of the list at `path`; `member` is an attribute of them. */
type Target = { readonly path: AttributePath; readonly filter?: ScimFilter; readonly member?: string }

const OPERATIONS_MAX = 1_000
const LISTS = ['members', 'emails', 'phonenumbers', 'addresses', 'ims', 'photos', 'roles', 'entitlements', 'x509certificates']
const FILTERED = /^([^[\]]+)\[(.*)\](?:\.([a-z$][\w$-]*))?$/i

/** Applies the operations of a PATCH request (RFC 7644, section 3.5.2) and returns another resource. */
export function patched(resource: ScimObject, request: unknown): ScimObject {
  const operations = isObject(request) ? memberOf(request, 'Operations') : undefined
  if (!Array.isArray(operations) || operations.length === 0)
    throw new ScimFailure('invalidSyntax', 'Operations must be a list of operations')
  if (operations.length > OPERATIONS_MAX) throw new ScimFailure('tooMany', `a request has at most ${OPERATIONS_MAX} operations`)
  const next = structuredClone(resource)
  for (const operation of operations) applyOperation(next, operation)
  return next
}

function applyOperation(resource: ScimObject, operation: unknown): void {
  if (!isObject(operation)) throw new ScimFailure('invalidSyntax', 'each operation must be an object')
  const verb = verbOf(memberOf(operation, 'op'))
  const path = memberOf(operation, 'path')
  const value = memberOf(operation, 'value')
  if (path !== undefined && path !== null && typeof path !== 'string') throw new ScimFailure('invalidPath', 'path must be a text')
  if (verb !== 'remove' && value === undefined) throw new ScimFailure('invalidValue', `${verb} needs a value`)
  if (path) {
    applyAt(resource, verb, targetOf(path), value)
    return
  }
  if (verb === 'remove') throw new ScimFailure('noTarget', 'remove needs a path')
  if (!isObject(value)) throw new ScimFailure('invalidValue', 'without a path, value must be an object of attributes')
  for (const [name, one] of Object.entries(value)) applyAt(resource, verb, targetOf(name), one)
}

function verbOf(op: unknown): Verb {
  const verb = typeof op === 'string' ? op.toLowerCase() : ''
  if (verb !== 'add' && verb !== 'replace' && verb !== 'remove') throw new ScimFailure('invalidSyntax', 'op must be add, replace or remove')
  return verb
}

function targetOf(text: string): Target {
  const [, list, filter, member] = FILTERED.exec(text) ?? []
  const path = readAttributePath(list ?? text)
  if (!path) throw new ScimFailure('invalidPath', `the path names no attribute: ${text.slice(0, 100)}`)
  if (filter === undefined) return { path }
  return { path, filter: readFilter(filter), ...(member === undefined ? {} : { member }) }
}

function applyAt(resource: ScimObject, verb: Verb, { path, filter, member }: Target, value: unknown): void {
  const name = path.at(-1) ?? ''
  for (const holder of holdersOf(resource, path.slice(0, -1), verb)) {
    if (filter) applyToElements(holder, verb, { name, filter, ...(member === undefined ? {} : { member }) }, value)
    else applyToAttribute(holder, verb, name, value)
  }
}

/** The objects that have the attribute at the end of a path. Absent ones are added unless something is removed. */
function holdersOf(holder: ScimObject, path: AttributePath, verb: Verb): ScimObject[] {
  const [name, ...rest] = path
  if (name === undefined) return [holder]
  const own = ownName(holder, name)
  const held = own === undefined ? undefined : holder[own]
  if (Array.isArray(held)) return held.filter(isObject).flatMap((one) => holdersOf(one, rest, verb))
  if (isObject(held)) return holdersOf(held, rest, verb)
  if (verb === 'remove') return []
  const added: ScimObject = {}
  holder[own ?? name] = added
  return holdersOf(added, rest, verb)
}

function applyToAttribute(holder: ScimObject, verb: Verb, name: string, value: unknown): void {
  const own = ownName(holder, name) ?? name
  const before = Object.hasOwn(holder, own) ? holder[own] : undefined
  if (verb === 'remove') {
    if (value !== undefined && Array.isArray(before))
      holder[own] = before.filter((one) => !listOf(value).some((gone) => isElement(one, gone)))
    else delete holder[own]
  } else if (isObject(before) && isObject(value)) {
    for (const [inner, one] of Object.entries(value)) applyToAttribute(before, verb, inner, one)
  } else if (Array.isArray(before) || LISTS.includes(own.toLowerCase())) {
    const kept = verb === 'add' && Array.isArray(before) ? before : []
    holder[own] = [...kept, ...listOf(value).filter((one) => !kept.some((known) => isElement(known, one)))]
  } else holder[own] = value
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Elements are the same if their values are. */
function isElement(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return isDeepStrictEqual(one, isObject(other) ? memberOf(other, 'value') : other)
  const value = memberOf(one, 'value')
  return value === undefined ? isDeepStrictEqual(one, other) : value === memberOf(other, 'value')
}

function applyToElements(
  holder: ScimObject,
  verb: Verb,
  { name, filter, member }: { name: string; filter: ScimFilter; member?: string },
  value: unknown,
): void {
  const own = ownName(holder, name) ?? name
  const before = Object.hasOwn(holder, own) ? holder[own] : undefined
  const elements = Array.isArray(before) ? before : []
  const isChosen = (one: unknown): boolean => isObject(one) && matches(filter, one)
  if (verb === 'remove' && member === undefined) {
    if (Array.isArray(before)) holder[own] = elements.filter((one) => !isChosen(one))
    return
  }
  const chosen = elements.filter(isChosen) as ScimObject[]
  if (chosen.length === 0 && verb === 'replace') throw new ScimFailure('noTarget', `no element of ${name} matches the path`)
  if (chosen.length === 0 && verb === 'add') {
    const added = describedBy(filter)
    if (!added) throw new ScimFailure('noTarget', `no element of ${name} matches the path`)
    holder[own] = [...elements, added]
    chosen.push(added)
  }
  for (const element of chosen) {
    if (member !== undefined) applyToAttribute(element, verb, member, value)
    else if (isObject(value)) for (const [inner, one] of Object.entries(value)) applyToAttribute(element, verb, inner, one)
    else throw new ScimFailure('invalidValue', `an element of ${name} must be an object`)
  }
}

/** The element that a filter such as `type eq "work"` describes. */
function describedBy(filter: ScimFilter): ScimObject | undefined {
  if (filter.kind === 'and') {
    const [left, right] = [describedBy(filter.left), describedBy(filter.right)]
    return left && right && { ...left, ...right }
  }
  const [name, ...rest] = filter.kind === 'compare' && filter.operator === 'eq' ? filter.path : []
  return filter.kind === 'compare' && name !== undefined && rest.length === 0 ? { [name]: filter.value } : undefined
}
