import type { Identity } from '@dendro/api'
import type { Selector } from '@dendro/language/selector'
import type { Principal } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { World } from '../../../world.ts'
import { callerOf } from '../../access/auth/auth.ts'
import { isLimited, visibleTo } from '../../access/policies/policies.ts'
import { allDatasets } from './listing.ts'
import type { DatasetRow } from './rows.ts'

/** A DatasetReference is how a record says which datasets it is about: by ids or full names, or by a selector, which goes before them. */
export type DatasetReference = { readonly from?: readonly string[] | undefined; readonly from_expr?: string | undefined }

/**
 * A DatasetVisibility tells which records a caller may see, by the datasets that they refer to: a record is seen whole or not at all, and not at all when
 * it refers to a dataset that a policy hides from the caller.
 */
export type DatasetVisibility = {
  /** limited says that some policy concerns the caller; everybody else sees every record. */
  readonly limited: boolean
  /** seesEach reports whether the caller may see every one of these datasets, named by ids or full names; one that is gone nobody can judge. */
  seesEach(named: readonly string[]): boolean
  /** hides reports whether there is a dataset of this id that the caller may not see. */
  hides(id: string): boolean
  /**
   * sees reports whether the caller may see a record with these references. A selector reaches what it finds among the datasets that its writer may
   * see, since nobody else's data can be in what he wrote or in what is read in his name. What somebody wrote himself he sees.
   */
  sees(references: readonly DatasetReference[], writer: Identity | null): Promise<boolean>
}

const UNLIMITED: DatasetVisibility = { limited: false, seesEach: () => true, hides: () => false, sees: async () => true }

type Reader = Pick<World, 'meta'>

/** visibilityFor remembers what it found out until anything of the organization changes: selectors are tried on many datasets. */
export async function visibilityFor(world: Reader, caller: Principal): Promise<DatasetVisibility> {
  if (!(await isLimited(world, caller))) return UNLIMITED
  const { type, id } = caller.identity
  return world.meta.cached(caller.orgId, `visibility ${type} ${id} ${JSON.stringify(caller.roles)}`, () => limitedVisibility(world, caller))
}

async function limitedVisibility(world: Reader, caller: Principal): Promise<DatasetVisibility> {
  const all = await allDatasets(world, caller.orgId)
  const visible = new Set(await visibleTo(world, caller, all))
  const hidden = all.filter((dataset) => !visible.has(dataset))
  const hiddenIds = new Set(hidden.map(({ id }) => id))
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
    hides: (id) => hiddenIds.has(id),
    sees: async (references, writer) => {
      if (isSameIdentity(caller.identity, writer)) return true
      for (const reference of references) if (!(await seesOne(reference, writer))) return false
      return true
    },
  }
}

/** visibleRows leaves the rows whose references the caller may see. */
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

/** selectedBy is what a selector finds; a placeholder of a template may become any name, and so may what cannot be read before it is filled in. */
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

/** isHiddenFromWriter reports that the writer of a selector may not see these datasets either; of a writer who is gone nobody knows what he saw. */
async function isHiddenFromWriter(world: Reader, orgId: string, writer: Identity | null, reached: readonly DatasetRow[]): Promise<boolean> {
  const caller = writer && (await callerOf(world, orgId, writer))
  return caller ? (await visibleTo(world, caller, reached)).length === 0 : false
}

export const isSameIdentity = (one: Identity, other: Identity | null): boolean =>
  other !== null && one.type === other.type && one.id === other.id
