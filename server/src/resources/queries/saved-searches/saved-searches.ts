import {
  isUuid,
  type SavedSearch,
  type SavedSearchChange,
  SavedSearchDraft,
  type SavedSearchRequest,
  type SavedSearchTemplateDraft,
  type SearchDetails,
  type SortedPageQuery,
  type Template,
} from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import { boundsOf, rangeFieldsIn } from '../../../query/bounds.ts'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter, parseSelector } from '../../../query/query.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { type DatasetReference, visibilityOfDefinitions, visibleRows } from '../../data/datasets/datasets.ts'
import { byName, type NextPage, pageOf, searched, searchedText } from '../../list-pages.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { fillTemplate, type Library } from '../templates/templates.ts'
import {
  deleteSavedSearch,
  insertSavedSearch,
  lockSavedSearch,
  type SavedSearchRow,
  selectSavedSearches,
  updateSavedSearchRow,
} from './rows.ts'

const allSavedSearches = (world: MetaWorld, orgId: string): Promise<readonly SavedSearchRow[]> =>
  world.meta.cached(orgId, 'saved searches', () => selectSavedSearches(world.meta, orgId))

/** The saved searches that refer to no dataset hidden from the caller. */
export const seenSavedSearches = async (world: MetaWorld, actor: Actor): Promise<readonly SavedSearchRow[]> =>
  visibleRows(await visibilityOfDefinitions(world, actor), await allSavedSearches(world, actor.orgId), (row) => [
    searchReference(row.search_details),
    { from: row.log_ids ?? [] },
  ])

export const searchReference = (details: Pick<SearchDetails, 'from' | 'from_expr'>): DatasetReference => ({
  from: idsIn(details),
  from_expr: details.from_expr,
})

export const listSavedSearches = async (world: MetaWorld, actor: Actor): Promise<SavedSearch[]> =>
  (await savedSearchPage(world, actor, {})).saved_searches

export async function savedSearchPage(
  world: MetaWorld,
  actor: Actor,
  query: SortedPageQuery,
): Promise<NextPage & { saved_searches: SavedSearch[] }> {
  const seen = await seenSavedSearches(world, actor)
  const found = searched(seen, query.search, ({ name, description, tags }) => searchedText([name, description], tags))
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byTitle : undefined)
  return { saved_searches: rows.map(shownSavedSearch), ...rest }
}

const byTitle = byName(({ name }: SavedSearchRow) => [name])

export async function findSavedSearch(world: MetaWorld, actor: Actor, id: string): Promise<SavedSearchRow> {
  const row = (await seenSavedSearches(world, actor)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('saved search', id)
  return row
}

export async function createSavedSearch(world: World, actor: Actor, request: SavedSearchRequest): Promise<SavedSearch> {
  const { draft, template } = await resolveDraft(world, actor, request)
  const nowMs = world.clock.nowMs()
  checkSearchDetails(draft.search_details, nowMs)
  const row: SavedSearchRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name: draft.name,
    description: draft.description ?? null,
    search_details: draft.search_details,
    log_ids: draft.log_ids ?? null,
    template,
    tags: draft.tags,
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, savedSearchRecords, row)
}

/** Merges the draft with its template. */
async function resolveDraft(
  world: World,
  actor: Actor,
  { template, ...said }: SavedSearchRequest,
): Promise<{ draft: SavedSearchDraft; template: Template | null }> {
  if (!template) return { draft: check(SavedSearchDraft, said, 'body'), template: null }
  const use = { ...template, field: 'template' }
  return fillTemplate(world, actor, savedSearchTemplates, { use, overrides: said, schema: SavedSearchDraft })
}

/** Stored without checking their queries, which depend on the arguments. */
export const savedSearchTemplates: Library<SavedSearchTemplateDraft> = {
  kind: 'saved_search_template',
  parts: ['name', 'description', 'search_details', 'tags'],
  check: async (_world, _actor, { search_details }) => checkSource(search_details),
  references: ({ search_details }) => [searchReference(search_details)],
}

export async function updateSavedSearch(
  world: World,
  actor: Actor,
  { id }: SavedSearchRow,
  change: SavedSearchChange,
): Promise<SavedSearch> {
  if (change.search_details) checkSearchDetails(change.search_details, world.clock.nowMs())
  return changeRecord(world, actor, savedSearchRecords, {
    id,
    change: (before) => ({
      name: change.name ?? before.name,
      description: change.description ?? before.description,
      search_details: change.search_details ?? before.search_details,
      log_ids: change.log_ids ?? before.log_ids,
    }),
  })
}

export const removeSavedSearch = (world: World, actor: Actor, record: SavedSearchRow): Promise<undefined> =>
  removeRecord(world, actor, savedSearchRecords, record)

const AT = 'search_details'

/** Rejects an invalid search; its datasets may be deleted later. */
export function checkSearchDetails(details: SearchDetails, nowMs: number, at = AT): void {
  checkSource(details, at)
  const ids = idsIn(details)
  const odd = ids.find((id) => !isUuid(id))
  if (odd !== undefined) throw badField(`${at}.from`, 'must be dataset ids joined by :', 'BAD_ID')
  parseAll({
    where: () => parseFilter(details.where ?? '', `${at}.where`),
    source: () => (details.from_expr?.trim() ? parseSelector(details.from_expr, `${at}.from_expr`) : undefined),
    bounds: () => boundsOf(details, nowMs, '', rangeFieldsIn(at)),
  })
}

const idsIn = ({ from }: Pick<SearchDetails, 'from'>): string[] => from?.split(':').filter((id) => id !== '') ?? []

function checkSource(details: Pick<SearchDetails, 'from' | 'from_expr'>, at = AT): void {
  if (idsIn(details).length === 0 && !details.from_expr?.trim()) throw badField(at, 'needs from or from_expr', 'MISSING_SOURCE')
}

export const shownSavedSearch = (row: SavedSearchRow): SavedSearch => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  search_details: row.search_details,
  ...(row.log_ids === null ? {} : { log_ids: row.log_ids }),
  ...(row.template === null ? {} : { template: row.template }),
  tags: row.tags,
  metadata: metadataOf(row),
})

const savedSearchRecords: RecordKind<SavedSearchRow, SavedSearch> = {
  noun: 'saved search',
  entity: 'saved_search',
  lock: lockSavedSearch,
  insert: insertSavedSearch,
  update: updateSavedSearchRow,
  remove: deleteSavedSearch,
  shown: shownSavedSearch,
}
