import type { IngestAction } from '@dendro/api'
import { PATTERN_KEY, patternsNamedIn } from '../../../ingest-rules/pattern-filter.ts'
import type { RuleSources } from '../../../ingest-rules/rule-run.ts'
import { badField } from '../../../kernel/errors.ts'
import { parseFilter } from '../../../query/query.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { allLookupTables, namedTables } from '../lookup-tables/lookup-tables.ts'
import { patternsById } from '../pattern-families/pattern-families.ts'

type SourceWorld = MetaWorld & Pick<World, 'addressFiles'>

/** Loads what rules read besides events. */
export async function ruleSources(
  world: SourceWorld,
  orgId: string,
  rules: readonly { readonly where: string; readonly action: IngestAction }[],
  logIds: readonly string[],
): Promise<RuleSources> {
  const names = new Set(rules.flatMap(({ action }) => (action.type === 'LOOKUP' ? [action.table] : [])))
  const locates = rules.some(({ action }) => action.type === 'GEOIP')
  return {
    tables: names.size === 0 ? [] : await namedTables(world, orgId, names),
    addresses: locates ? (world.addressFiles?.current ?? []) : [],
    patterns: await namedPatterns(world, orgId, rules, logIds),
  }
}

/** How long a process may not know of a pattern that joins a family. */
const PATTERNS_AGE_MS = 10_000

/** The patterns that filters name. */
async function namedPatterns(
  world: MetaWorld,
  orgId: string,
  rules: readonly { readonly where: string }[],
  logIds: readonly string[],
): Promise<RuleSources['patterns']> {
  const naming = rules.filter(({ where }) => where.includes(PATTERN_KEY))
  if (naming.length === 0) return []
  const ids = [...new Set(naming.flatMap(({ where }) => patternsNamedIn(parseFilter(where).filter)))]
  return world.meta.cached(orgId, `patterns ${logIds.join()} ${ids.join()}`, () => patternsById(world.meta, orgId, logIds, ids), {
    ageMaxMs: PATTERNS_AGE_MS,
  })
}

/** Refuses a rule that reads what there is not. */
export async function checkSources(world: SourceWorld, orgId: string, action: IngestAction | undefined): Promise<void> {
  if (action?.type === 'GEOIP' && (world.addressFiles?.current ?? []).length === 0) {
    throw badField(
      'action.type',
      'needs databases of addresses, which the operator of this deployment has to offer (DENDRO_GEOIP_DIR)',
      'NOT_OFFERED',
    )
  }
  if (action?.type !== 'LOOKUP') return
  const table = (await allLookupTables(world, orgId)).find(({ name }) => name === action.table)
  if (!table) throw badField('action.table', 'names no lookup table', 'UNKNOWN_TABLE')
  const at = action.columns.findIndex((column) => !table.columns.includes(column))
  if (at >= 0)
    throw badField(
      `action.columns.${at}`,
      `is no column of the table; its columns are ${table.columns.join(', ').slice(0, 500)}`,
      'UNKNOWN_COLUMN',
    )
}
