import { isUtf8 } from 'node:buffer'
import type { BodyOf, contract, LookupTable as ShownTable } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { type IndexedTable, readLookupTable } from '../../../ingest-rules/lookup-table.ts'
import { badField, badRequest, conflict, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { compressed, loadedTable } from './loaded.ts'
import {
  deleteLookupTable,
  insertLookupTable,
  type LookupTableRow,
  lockLookupTable,
  lockTablesOf,
  replaceFile,
  selectLookupTables,
  updateLookupTable,
} from './rows.ts'

const TABLES_MAX = 50
const BYTES_MAX = 256 * 2 ** 20

type NewTable = BodyOf<typeof contract.lookupTables.create>
/** What rules use of a table: all columns that they name. Undefined when no rule uses it. */
export type TableUses = (name: string) => Promise<ReadonlySet<string> | undefined>

export const allLookupTables = (world: MetaWorld, orgId: string): Promise<readonly LookupTableRow[]> =>
  world.meta.cached(orgId, 'lookup tables', () => selectLookupTables(world.meta, orgId))

export const listLookupTables = async (world: MetaWorld, actor: Actor): Promise<{ lookup_tables: ShownTable[] }> => ({
  lookup_tables: (await allLookupTables(world, actor.orgId)).map(shownLookupTable),
})

export async function findLookupTable(world: MetaWorld, actor: Actor, id: string): Promise<LookupTableRow> {
  const row = (await allLookupTables(world, actor.orgId)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('lookup table', id)
  return row
}

/** The rows of tables by their names, those that exist. */
export async function namedTables(world: MetaWorld, orgId: string, names: ReadonlySet<string>): Promise<IndexedTable[]> {
  const rows = (await allLookupTables(world, orgId)).filter(({ name }) => names.has(name))
  return Promise.all(rows.map((row) => loadedTable(world, row)))
}

export async function createLookupTable(world: World, actor: Actor, { name, description, key, csv }: NewTable): Promise<ShownTable> {
  const bytes = Buffer.from(csv)
  const table = await readLookupTable(name, bytes, key)
  const file = await compressed(bytes)
  const row: LookupTableRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name,
    description: description ?? null,
    key_column: key,
    ...(await contentOf(table, bytes)),
    version: 1,
    ...createdBy(actor, world.clock.nowMs()),
  }
  const kind = {
    ...lookupTableRecords,
    insert: async (tx: Db) => {
      await insertLookupTable(tx, row)
      await replaceFile(tx, row.id, row.version, file)
    },
  }
  return createRecord(world, actor, kind, row, async (tx) => {
    await lockTablesOf(tx, actor.orgId)
    const others = await selectLookupTables(tx, actor.orgId)
    if (others.some((other) => other.name === name)) throw conflict(`there is a lookup table ${name} already`)
    if (others.length >= TABLES_MAX) throw badRequest(`an organization may have ${TABLES_MAX} lookup tables`)
    checkBytes(others, row.bytes)
  })
}

export const describeTable = (
  world: World,
  actor: Actor,
  { id }: LookupTableRow,
  { description }: BodyOf<typeof contract.lookupTables.update>,
): Promise<ShownTable> =>
  changeRecord(world, actor, lookupTableRecords, { id, change: () => ({ description: description === '' ? null : description }) })

/** Replaces all rows at once. Rules go on with the previous ones until their process knows of the new version. */
export async function replaceRows(
  world: World,
  actor: Actor,
  { id, name, key_column }: LookupTableRow,
  { csv, uses }: { csv: Uint8Array<ArrayBuffer>; uses: TableUses },
): Promise<ShownTable> {
  if (!isUtf8(csv)) throw badField('csv', 'must be UTF-8', 'BAD_CSV')
  const table = await readLookupTable(name, csv, key_column)
  const file = await compressed(csv)
  const missing = [...((await uses(name)) ?? [])].find((column) => !table.columns.includes(column))
  if (missing !== undefined) throw conflict(`an ingest rule uses the column ${missing}, which the new rows do not have`)
  const content = await contentOf(table, csv)
  return changeRecord(world, actor, lookupTableRecords, {
    id,
    change: async (before, tx) => {
      await lockTablesOf(tx, actor.orgId)
      checkBytes(
        (await selectLookupTables(tx, actor.orgId)).filter((other) => other.id !== id),
        content.bytes,
      )
      return { ...content, version: before.version + 1 }
    },
    afterwards: async (tx, next) => {
      await replaceFile(tx, id, next.version, file)
    },
  })
}

/** Describes a file. Its hash is made in a thread, since the file may be large. */
const contentOf = async (
  { columns, rows }: IndexedTable,
  csv: Uint8Array<ArrayBuffer>,
): Promise<Pick<LookupTableRow, 'columns' | 'rows' | 'bytes' | 'sha256'>> => ({
  columns: [...columns],
  rows,
  bytes: csv.length,
  sha256: Buffer.from(await crypto.subtle.digest('SHA-256', csv)).toString('hex'),
})

function checkBytes(others: readonly LookupTableRow[], bytes: number): void {
  const all = others.reduce((sum, other) => sum + Number(other.bytes), bytes)
  if (all > BYTES_MAX) throw badRequest(`the lookup tables of an organization may have ${BYTES_MAX} bytes together, and would have ${all}`)
}

export async function removeLookupTable(world: World, actor: Actor, record: LookupTableRow, uses: TableUses): Promise<undefined> {
  if (await uses(record.name)) throw conflict(`an ingest rule uses the lookup table ${record.name}`)
  return removeRecord(world, actor, lookupTableRecords, record)
}

export const shownLookupTable = (row: LookupTableRow): ShownTable => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  key: row.key_column,
  columns: row.columns,
  rows: row.rows,
  bytes: Number(row.bytes),
  ...(row.sha256 === null ? {} : { sha256: row.sha256 }),
  version: row.version,
  metadata: metadataOf(row),
})

const lookupTableRecords: RecordKind<LookupTableRow, ShownTable> = {
  noun: 'lookup table',
  entity: 'lookup-table',
  lock: lockLookupTable,
  insert: insertLookupTable,
  update: updateLookupTable,
  remove: deleteLookupTable,
  shown: shownLookupTable,
}
