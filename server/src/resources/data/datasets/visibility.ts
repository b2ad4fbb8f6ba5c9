import type { Identity } from '@dendro/api'
import type { Selector } from '@dendro/language/selector'
import type { Principal } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { MetaWorld } from '../../../world.ts'
import { callerOf } from '../../access/auth/auth.ts'
import { isLimited, visibleTo } from '../../access/policies/policies.ts'
import { type EventFilters, eventFiltersOf } from './event-filters.ts'
import { allDatasets } from './listing.ts'
import type { DatasetRow } from './rows.ts'

/** The datasets a record refers to: by ids or full names, or by a selector, which takes precedence. */
export type DatasetReference = { readonly from?: readonly string[] | undefined; readonly from_expr?: string | undefined }

/**
 * Decides which records a caller may see, by the datasets they refer to. A record is visible as a whole, or not at all if it refers to a dataset that a
 * policy hides from the caller.
 */
export type DatasetVisibility = {
  /** True if some policy applies to the caller; all others see every record. */
  readonly limited: boolean
  /** Reports whether the caller may see all of these datasets, named by ids or full names. Deleted datasets count as hidden. */
  seesEach(named: readonly string[]): boolean
  /** Reports whether the caller may see a result with the events that these filters show of datasets with these ids. */
  seesThrough(ids: readonly string[], filters: EventFilters): boolean
  /** Reports whether there is a dataset with this id that the caller may not see. */
  hides(id: string): boolean
  /**
   * Reports whether the caller may see a record with these references. A selector counts for the datasets among its matches that its author may see,
   * since the record cannot contain data of others. Authors see their own records.
   */
  sees(references: readonly DatasetReference[], writer: Identity | null): Promise<boolean>
}

const UNLIMITED: DatasetVisibility = {
  limited: false,
  seesEach: () => true,
  seesThrough: () => true,
  hides: () => false,
  sees: async () => true,
}

/**
 * For records that contain events or counts of them: a dataset of which the caller sees only some events counts as hidden. It caches its results until a
 * record of the organization changes, because selectors are matched against many datasets.
 */
export const visibilityFor = (world: MetaWorld, caller: Principal): Promise<DatasetVisibility> => cachedVisibility(world, caller, 'results')

/** For records that say what to read, and are read as whoever reads them. A dataset of which the caller sees only some events counts as visible. */
export const visibilityOfDefinitions = (world: MetaWorld, caller: Principal): Promise<DatasetVisibility> =>
  cachedVisibility(world, caller, 'definitions')

type RecordKind = 'results' | 'definitions'

async function cachedVisibility(world: MetaWorld, caller: Principal, kind: RecordKind): Promise<DatasetVisibility> {
  if (!(await isLimited(world, caller))) return UNLIMITED
  const { type, id } = caller.identity
  return world.meta.cached(caller.orgId, `visibility of ${kind} ${type} ${id} ${JSON.stringify(caller.roles)}`, () =>
    limitedVisibility(world, caller, kind),
  )
}

async function limitedVisibility(world: MetaWorld, caller: Principal, kind: RecordKind): Promise<DatasetVisibility> {
  const all = await allDatasets(world, caller.orgId)
  const seen = await visibleTo(world, caller, all)
  const filters = await eventFiltersOf(world, caller, seen)
  const visible = new Set(kind === 'definitions' ? seen : seen.filter(({ id }) => filters?.[id] === undefined))
  const hidden = all.filter((dataset) => !visible.has(dataset))
  const seenIds = new Set(seen.map(({ id }) => id))
  const hiddenIds = new Set(all.flatMap(({ id }) => (seenIds.has(id) ? [] : [id])))
  const named = new Set([...visible].flatMap(({ id, collection, dataset }) => [id, `${collection}.${dataset}`]))
  const seesEach = (names: readonly string[]): boolean => names.every((name) => named.has(name))
  const found = new Map<string, readonly DatasetRow[]>()
  const seesOne = async ({ from = [], from_expr = '' }: DatasetReference, writer: Identity | null): Promise<boolean> => {
    if (from_expr.trim() === '') return seesEach(from)
    const reached = found.get(from_expr) ?? selectedBy(from_expr, hidden)
    found.set(from_expr, reached)
    return reached.length === 0 || (await isHiddenFromWriter(world, caller.orgId, writer, reached))
  }
  return {
    limited: true,
    seesEach,
    seesThrough: (ids, through) => ids.every((id) => seenIds.has(id) && (filters?.[id] === undefined || filters[id] === through?.[id])),
    hides: (id) => hiddenIds.has(id),
    sees: async (references, writer) => {
      if (isSameIdentity(caller.identity, writer)) return true
      for (const reference of references) if (!(await seesOne(reference, writer))) return false
      return true
    },
  }
}

/** Filters rows by whether the caller may see their references. */
export async function visibleRows<Row extends { modified_by: Identity | null }>(
  visibility: DatasetVisibility,
  rows: readonly Row[],
  referencesOf: (row: Row) => readonly DatasetReference[],
): Promise<readonly Row[]> {
  if (!visibility.limited) return rows
  const kept: Row[] = []
  for (const row of rows) if (await visibility.sees(referencesOf(row), row.modified_by)) kept.push(row)
  return kept
}

/** The datasets that a selector matches. A placeholder of a template may become any name, and so may a selector that does not parse until it is filled in. */
function selectedBy(text: string, datasets: readonly DatasetRow[]): readonly DatasetRow[] {
  const selector = text.includes('{{') ? undefined : parseOrUndefined(text)
  return selector ? matchDatasets(selector, datasets) : datasets
}

function parseOrUndefined(text: string): Selector | undefined {
  try {
    return parseSelector(text)
  } catch (thrown) {
    if (thrown instanceof Failure) return undefined
    throw thrown
  }
}

/** Reports whether these datasets are hidden from the author of a selector too. For a deleted author it is unknown. */
async function isHiddenFromWriter(
  world: MetaWorld,
  orgId: string,
  writer: Identity | null,
  reached: readonly DatasetRow[],
): Promise<boolean> {
  const caller = writer && (await callerOf(world, orgId, writer))
  return caller ? (await visibleTo(world, caller, reached)).length === 0 : false
}

export const isSameIdentity = (one: Identity, other: Identity | null): boolean =>
  other !== null && one.type === other.type && one.id === other.id
