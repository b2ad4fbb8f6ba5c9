import { column, param, type SqlFragment, sql } from '../sql/sql.ts'
import { idsOf, type LocatedSource } from './table-reads.ts'

const OWN_PATTERN = column('skeleton')
/** Tells the patterns of several datasets apart. */
const SALT = 0x9e3779b97f4a7c15n

/** The number of the family of an event, or of its pattern when it has no family. */
export function familyNumber(sources: readonly LocatedSource[]): SqlFragment {
  const grouped = sources.filter(({ families }) => families && families.size > 0)
  const [only] = grouped
  if (!only) return OWN_PATTERN
  const salts = sources.map((_, at) => (sources.length === 1 ? 0n : BigInt.asUintN(64, SALT * BigInt(at + 1))))
  const [patterns, families]: [bigint[], bigint[]] = [[], []]
  for (const [at, source] of sources.entries()) {
    for (const [pattern, family] of source.families ?? []) {
      patterns.push(pattern ^ (salts[at] ?? 0n))
      families.push(family)
    }
  }
  const key =
    sources.length === 1
      ? OWN_PATTERN
      : sql`bitXor(${OWN_PATTERN}, transform(log_id, ${idsOf(sources)}, ${param.uint64s(salts)}, toUInt64(0)))`
  return sql`transform(${key}, ${param.uint64s(patterns)}, ${param.uint64s(families)}, skeleton)`
}
