import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { rowsDownload } from './download.ts'
import {
  createLookupTable,
  describeTable,
  findLookupTable,
  listLookupTables,
  removeLookupTable,
  shownLookupTable,
  type TableUses,
} from './lookup-tables.ts'
import { rowsUpload } from './upload.ts'

export function lookupTableRoutes(world: World, usesOf: (orgId: string) => TableUses): Routes {
  const find = ({ actor, params }: RecordPath<'tableId'>) => findLookupTable(world, actor, params.tableId)
  const download = rowsDownload(world)
  return routes('lookupTables', contract.lookupTables, {
    list: ({ actor }) => listLookupTables(world, actor),
    create: ({ actor, body }) => createLookupTable(world, actor, body),
    get: onRecord(find, async ({ record }) => shownLookupTable(record)),
    update: onRecord(find, ({ actor, record, body }) => describeTable(world, actor, record, body)),
    rows: onRecord(find, ({ record }) => download(record)),
    replaceRows: rowsUpload(world, usesOf),
    remove: onRecord(find, ({ actor, record }) => removeLookupTable(world, actor, record, usesOf(actor.orgId))),
  })
}
