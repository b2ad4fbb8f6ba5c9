import type { z } from 'zod'

/** Bounds how often a body is parsed again: a schema with several stages reports the issues of each stage separately. */
const PASSES_MAX = 8

/**
 * Parses a body and forgives two spellings. Null is absent unless the schema accepts it; nullable members of the contract give null a meaning, and
 * list items stay, since dropping one would shift the others. A whole number beyond 2^53, which is read exactly, is rounded where the schema has a
 * number with fractions: every double that the service returns can be sent to it, however it is written.
 */
export function parseLeniently<S extends z.ZodType>(schema: S, given: unknown): z.ZodSafeParseResult<z.output<S>> {
  let value = given
  for (let pass = 1; ; pass += 1) {
    const result = schema.safeParse(value, { reportInput: true })
    if (result.success || pass === PASSES_MAX) return result
    const repairs = result.error.issues.flatMap(reportsOf).flatMap((report) => repairOf(value, report) ?? [])
    if (repairs.length === 0) return result
    value = repaired(value, repairs)
  }
}

type Path = readonly PropertyKey[]
type Report = { path: Path; wantsNumber: boolean }
/** A value to put at a path; undefined omits the member. */
type Repair = { path: Path; value: number | undefined }

/** Lists the places of an issue; for a union, those of every branch. */
function reportsOf(issue: z.core.$ZodIssue): Report[] {
  const own = { path: issue.path, wantsNumber: issue.code === 'invalid_type' && issue.expected === 'number' }
  if (issue.code !== 'invalid_union') return [own]
  const inner = issue.errors.flat().flatMap(reportsOf)
  return [own, ...inner.map(({ path, wantsNumber }) => ({ path: [...issue.path, ...path], wantsNumber }))]
}

function repairOf(value: unknown, { path, wantsNumber }: Report): Repair | undefined {
  let [parent, inner]: [unknown, unknown] = [{}, value]
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined
    parent = inner
    inner = (inner as Record<PropertyKey, unknown>)[key]
  }
  if (inner === null && !Array.isArray(parent)) return { path, value: undefined }
  return typeof inner === 'bigint' && wantsNumber ? { path, value: Number(inner) } : undefined
}

/** Copies a value with the repairs made; a repair of an empty path replaces the value itself. */
function repaired(value: unknown, repairs: readonly Repair[]): unknown {
  const whole = repairs.find(({ path }) => path.length === 0)
  if (whole) return whole.value
  const byKey = Map.groupBy(repairs, ({ path: [key] }) => String(key))
  const kept = (key: string, inner: unknown): unknown => {
    const deeper = byKey.get(key)?.map((repair) => ({ ...repair, path: repair.path.slice(1) }))
    return deeper ? repaired(inner, deeper) : inner
  }
  if (Array.isArray(value)) return value.map((item, index) => kept(String(index), item))
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).flatMap(([key, inner]) => {
      const left = kept(key, inner)
      return left === undefined ? [] : [[key, left]]
    }),
  )
}
