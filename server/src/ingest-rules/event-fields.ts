import type { ArrivingEvent, FieldText } from './arriving-event.ts'
import { takeMembers, withMembers } from './json-members.ts'

/** Changes of the fields of arriving events. A JSON line holds its own fields; those of other lines are kept beside them. */

const LEVEL = 'level'

/** Adds fields, which replace those of the same name. */
export function withFields<E extends ArrivingEvent>(event: E, fields: readonly FieldText[]): E {
  if (fields.length === 0) return event
  let cleared = event
  for (const [name] of fields) cleared = withoutField(cleared, name)
  return added(
    cleared,
    fields.map(([name, text]) => [name, JSON.stringify(text)] as const),
  )
}

/** Removes a field with all that is in it. The same event when it has no such field. */
export function withoutField<E extends ArrivingEvent>(event: E, name: string): E {
  const line = takeMembers(event.line, name)?.line ?? event.line
  const keys = without(event.keys, name)
  const attributes = without(event.attributes, name)
  const level = name === LEVEL ? undefined : event.level
  const isSame = line === event.line && keys === event.keys && attributes === event.attributes && level === event.level
  return isSame ? event : { ...event, line, keys, attributes, level }
}

/** Renames a field. The same event when it has no such field. */
export function withRenamed<E extends ArrivingEvent>(event: E, from: string, to: string): E {
  const taken = takeMembers(event.line, from)
  const rest = withoutField(event, from)
  if (from === to || rest === event) return event
  const ofLine = taken?.values.at(-1)
  const cleared = withoutField(rest, to)
  if (ofLine !== undefined) return added(cleared, [[to, ofLine]])
  const extra = [...event.keys, ...event.attributes, ...(event.level === undefined ? [] : [[LEVEL, event.level] as const])]
  const moved = extra.flatMap(([name, text]) => (isWithin(name, from) ? [[to + name.slice(from.length), text] as const] : []))
  return { ...cleared, keys: [...cleared.keys, ...moved] }
}

/** Sets tags, which are attributes. The same event when it has them already. */
export function withTags<E extends ArrivingEvent>(event: E, tags: readonly FieldText[]): E {
  const has = new Map(event.attributes)
  if (tags.every(([name, text]) => has.get(name) === text)) return event
  const set = new Set(tags.map(([name]) => name))
  return { ...event, attributes: [...event.attributes.filter(([name]) => !set.has(name)), ...tags] }
}

/** Values are JSON, which is what a line of JSON gets; beside other lines a field is a text. */
function added<E extends ArrivingEvent>(event: E, members: readonly (readonly [name: string, json: string])[]): E {
  const line = withMembers(event.line, members)
  if (line) return { ...event, line }
  return { ...event, keys: [...event.keys, ...members.map(([name, json]) => [name, textOf(json)] as const)] }
}

const textOf = (json: string): string => {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : json
}

const isWithin = (name: string, path: string): boolean => name === path || name.startsWith(`${path}.`)

function without(fields: readonly FieldText[], path: string): readonly FieldText[] {
  return fields.some(([name]) => isWithin(name, path)) ? fields.filter(([name]) => !isWithin(name, path)) : fields
}
