import type { contract, Notebook, NotebookChange, NotebookDraft, NotebookStep, NotebookSummary, QueryOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { visibilityOfDefinitions, visibleRows } from '../../data/datasets/datasets.ts'
import { byName, type ListOrder, type NextPage, pageOf, searched, searchedText } from '../../list-pages.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { checkSearchDetails, searchReference } from '../saved-searches/saved-searches.ts'
import {
  deleteNotebook,
  insertNotebook,
  type ListedNotebookRow,
  lockNotebook,
  type NotebookRow,
  selectNotebook,
  selectNotebooks,
  updateNotebookRow,
} from './rows.ts'

/** The characters of all steps of a notebook, as JSON. A list of notebooks is read whole, and a change is audited whole. */
const STEPS_CHARS_MAX = 262_144

/** The notebooks without a query of a dataset hidden from the caller: words may quote what a query found. */
export async function listNotebooks(
  world: MetaWorld,
  actor: Actor,
  query: QueryOf<typeof contract.notebooks.list>,
): Promise<NextPage & { notebooks: NotebookSummary[] }> {
  const all = await world.meta.cached(actor.orgId, 'notebooks', () => selectNotebooks(world.meta, actor.orgId))
  const seen = await visibleRows(await visibilityOfDefinitions(world, actor), all, ({ searches }) => searches.map(searchReference))
  const found = searched(seen, query.search, ({ name, description }) => searchedText([name, description]))
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byTitle : lastChanged)
  return { notebooks: rows.map(shownSummary), ...rest }
}

const byTitle = byName(({ name }: ListedNotebookRow) => [name])
const lastChanged: ListOrder<ListedNotebookRow> = { name: 'changed', keysOf: ({ modified_at }) => [-modified_at] }

export async function findNotebook(world: MetaWorld, actor: Actor, id: string): Promise<NotebookRow> {
  const row = await selectNotebook(world.meta, actor.orgId, id)
  const [seen] = row ? await visibleRows(await visibilityOfDefinitions(world, actor), [row], referencesOf) : []
  if (!seen) throw notFound('notebook', id)
  return seen
}

const referencesOf = ({ steps }: NotebookRow) =>
  steps.flatMap(({ search_details }) => (search_details ? [searchReference(search_details)] : []))

export async function createNotebook(world: World, actor: Actor, { name, description, steps }: NotebookDraft): Promise<Notebook> {
  const nowMs = world.clock.nowMs()
  checkSteps(steps, nowMs)
  const row: NotebookRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name,
    description: description ?? null,
    steps,
    version: 1,
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, notebookRecords, row)
}

/** Refuses a change of another version: two people write in one notebook. */
export async function updateNotebook(world: World, actor: Actor, { id }: NotebookRow, change: NotebookChange): Promise<Notebook> {
  if (change.steps) checkSteps(change.steps, world.clock.nowMs())
  return changeRecord(world, actor, notebookRecords, {
    id,
    change: (before) => {
      if (change.version !== undefined && change.version !== before.version)
        throw conflict(`the notebook has the version ${before.version} by now; read it again`)
      return {
        name: change.name ?? before.name,
        description: change.description ?? before.description,
        steps: change.steps ?? before.steps,
        version: before.version + 1,
      }
    },
  })
}

export const removeNotebook = (world: World, actor: Actor, record: NotebookRow): Promise<undefined> =>
  removeRecord(world, actor, notebookRecords, record)

function checkSteps(steps: readonly NotebookStep[], nowMs: number): void {
  for (const [at, { words = '', search_details }] of steps.entries()) {
    if (search_details) checkSearchDetails(search_details, nowMs, `steps.${at}.search_details`)
    else if (words.trim() === '') throw badField(`steps.${at}`, 'needs words or search_details', 'EMPTY_STEP')
  }
  if (JSON.stringify(steps).length > STEPS_CHARS_MAX)
    throw badField('steps', `must be at most ${STEPS_CHARS_MAX} characters together`, 'TOO_LONG')
}

const shownHead = (row: Pick<NotebookRow, 'id' | 'name' | 'description' | 'version'>) => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  version: row.version,
})

const shownSummary = (row: ListedNotebookRow): NotebookSummary => ({
  ...shownHead(row),
  step_count: row.step_count,
  metadata: metadataOf(row),
})

export const shownNotebook = (row: NotebookRow): Notebook => ({ ...shownHead(row), steps: [...row.steps], metadata: metadataOf(row) })

const notebookRecords: RecordKind<NotebookRow, Notebook> = {
  noun: 'notebook',
  entity: 'notebook',
  lock: lockNotebook,
  insert: insertNotebook,
  update: updateNotebookRow,
  remove: deleteNotebook,
  shown: shownNotebook,
}
