import type { z } from 'zod'

/** Bounds how often a body is parsed again: a schema with several stages reports the issues of each stage separately. */
const PASSES_MAX = 8

/**
 * Parses a body and treats null as absent unless the schema accepts it. Nullable members of the contract give null a meaning. List items
 * stay, since dropping one would shift the others.
 */
export function parseWithoutNulls<S extends z.ZodType>(schema: S, given: unknown): z.ZodSafeParseResult<z.output<S>> {
  let value = given
  for (let pass = 1; ; pass += 1) {
    const result = schema.safeParse(value)
    if (result.success || pass === PASSES_MAX) return result
    const nulls = result.error.issues.flatMap(pathsOf).filter((path) => isNullMember(value, path))
    if (nulls.length === 0) return result
    value = without(value, nulls)
  }
}

type Path = readonly PropertyKey[]

/** Lists the paths of an issue; for a union, those of every branch. */
function pathsOf(issue: z.core.$ZodIssue): Path[] {
  if (issue.code !== 'invalid_union') return [issue.path]
  const inner = issue.errors.flat().flatMap(pathsOf)
  return [issue.path, ...inner.map((path) => [...issue.path, ...path])]
}

function isNullMember(value: unknown, path: Path): boolean {
  let [parent, inner]: [unknown, unknown] = [{}, value]
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return false
    parent = inner
    inner = (inner as Record<PropertyKey, unknown>)[key]
  }
  return inner === null && !Array.isArray(parent)
}

/** Copies a value and omits the members at the paths; an empty path omits the value itself. */
function without(value: unknown, paths: readonly Path[]): unknown {
  if (paths.some((path) => path.length === 0)) return undefined
  const byKey = Map.groupBy(paths, ([key]) => String(key))
  const kept = (key: string, inner: unknown): unknown => {
    const deeper = byKey.get(key)?.map((path) => path.slice(1))
    return deeper ? without(inner, deeper) : inner
  }
  if (Array.isArray(value)) return value.map((item, index) => kept(String(index), item))
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).flatMap(([key, inner]) => {
      const left = kept(key, inner)
      return left === undefined ? [] : [[key, left]]
    }),
  )
}
