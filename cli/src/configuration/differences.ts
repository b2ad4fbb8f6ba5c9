import { type ConfigFields, isFields, type Path } from './kind.ts'

export type Difference = { path: Path; before: unknown; after: unknown }

/** The members that differ, innermost ones, in the order of their paths in `after`. An absent member is undefined. */
export function differencesOf(before: ConfigFields, after: ConfigFields): Difference[] {
  return within(before, after, [])
}

function within(before: unknown, after: unknown, path: Path): Difference[] {
  if (isFields(before) && isFields(after)) {
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])]
    return names.flatMap((name) => within(memberOf(before, name), memberOf(after, name), [...path, name]))
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, at) => within(before[at], after[at], [...path, at])).flat()
  }
  return before === after ? [] : [{ path, before, after }]
}

const memberOf = (fields: ConfigFields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined)

/** A path as in messages of the service: `queries[0].where`. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`), '')
