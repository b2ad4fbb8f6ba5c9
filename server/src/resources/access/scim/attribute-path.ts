import { isObject } from '../../../kernel/json-object.ts'
/** A resource as JSON. Names of attributes are compared without regard to case. */
export type ScimObject = { [name: string]: unknown }

/** The names from the resource to a value: an extension if there is one, an attribute, and a sub-attribute. */
export type AttributePath = readonly string[]

const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group)$/i
const URN = /^(urn:[\w.:-]+:(?:User|Group))(?::(.+))?$/i
const NAME = /^(?:[a-z$][\w$-]*)$/i
const DEPTH_MAX = 2

/** Reads a path without a filter, such as `name.givenName`; undefined if it is none. */
export function readAttributePath(text: string): AttributePath | undefined {
  const [, urn, rest] = URN.exec(text) ?? []
  const extension = urn === undefined || CORE.test(urn) ? [] : [urn]
  const written = urn === undefined ? text : rest
  if (written === undefined) return extension.length > 0 ? extension : undefined
  const names = written.split('.')
  return names.length <= DEPTH_MAX && names.every((name) => NAME.test(name)) ? [...extension, ...names] : undefined
}

/** The name under which an object has an attribute. */
export const ownName = (object: ScimObject, name: string): string | undefined =>
  Object.hasOwn(object, name) ? name : Object.keys(object).find((own) => own.toLowerCase() === name.toLowerCase())

export function memberOf(object: ScimObject, name: string): unknown {
  const own = ownName(object, name)
  return own === undefined ? undefined : object[own]
}

/** The values at a path; each element of a list counts. */
export function valuesAt(value: unknown, path: AttributePath): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path))
  const [name, ...rest] = path
  if (name === undefined) return value === undefined || value === null ? [] : [value]
  return isObject(value) ? valuesAt(memberOf(value, name), rest) : []
}
