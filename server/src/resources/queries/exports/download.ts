import { type ExportCompression, type ExportFormat, type Identity, isUuid } from '@dendro/api'
import { hasPermission as isPermitted, type RequestFacts } from '../../../http/actor.ts'
import { Answer } from '../../../http/mount.ts'
import { Failure, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { activeCallerOf } from '../../access/auth/auth.ts'
import { visibilityFor } from '../../data/datasets/datasets.ts'
import { holds, type Link } from './links.ts'
import { type ExportRow, selectExportById } from './rows.ts'
import { datasetIds, readState } from './state.ts'

/** downloadExport serves the file, or the piece of it that is asked for, to whoever holds a link. */
export async function downloadExport(world: World, facts: RequestFacts, link: Link): Promise<Answer<string>> {
  if (!holds(world, link))
    throw forbidden('this link is not signed by this service, or its time is over; read the export again for a new one')
  const row = isUuid(link.id) ? await selectExportById(world.meta, link.id) : undefined
  if (row?.status !== 'COMPLETE') throw notFound('export', link.id)
  const holder = holderOf(link)
  await mustStillRead(world, row, holder)
  const whole = { start: 0, end: row.bytes }
  const span = spanOf(facts.range, row.bytes)
  if (span === 'beyond') {
    throw new Failure(416, `the file has ${row.bytes} bytes`, { headers: { 'content-range': `bytes */${row.bytes}` } })
  }
  const { start, end } = span ?? whole
  if (!facts.isHead) await recordDownload(world, facts, row, { holder, start, end })
  const body = await world.blobStore.read(row.id, readState(row).parts, { start, end })
  const headers = {
    'content-type': mediaOf(row),
    'content-disposition': `attachment; filename="dendro-${row.id}.${extensionOf(row)}"`,
    'content-length': String(end - start),
    'accept-ranges': 'bytes',
    etag: `"${row.id}"`,
    ...(span ? { 'content-range': `bytes ${start}-${end - 1}/${row.bytes}` } : {}),
  }
  // The door sends a stream as it comes; the contract knows it by its text.
  return new Answer(span ? 206 : 200, body as unknown as string, headers)
}

const medias: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
}
const packedMedias: Record<Exclude<ExportCompression, 'none'>, string> = { gzip: 'application/gzip', zstd: 'application/zstd' }
const endings: Record<ExportCompression, string> = { none: '', gzip: '.gz', zstd: '.zst' }

/** mediaOf: a compressed file is served as the file it is, never as an encoding that clients would take off. */
const mediaOf = (row: ExportRow): string => {
  const packing = packingOf(row)
  return packing === 'none' ? medias[row.format] : packedMedias[packing]
}
const extensionOf = (row: ExportRow): string => `${row.format}${endings[packingOf(row)]}`
/** packingOf is what the whole file is compressed by; Parquet compresses within. */
const packingOf = ({ format, compression }: ExportRow): ExportCompression => (format === 'parquet' ? 'none' : compression)

/** spanOf reads a Range header; undefined when there is none, or one that a server may ignore, such as several pieces at once. */
export function spanOf(range: string | undefined, bytes: number): { start: number; end: number } | 'beyond' | undefined {
  const [, from = '', to = ''] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(range ?? '') ?? []
  if (from === '' && to === '') return undefined
  if (from === '') {
    const last = Math.min(Number(to), bytes)
    return last === 0 ? 'beyond' : { start: bytes - last, end: bytes }
  }
  const start = Number(from)
  const end = to === '' ? bytes : Math.min(Number(to) + 1, bytes)
  if (to !== '' && Number(to) < start) return undefined
  return start >= bytes ? 'beyond' : { start, end }
}

/** holderOf is whom a link was given to. */
function holderOf({ by = '' }: Link): Identity {
  const [kind = '', ...id] = by.split('-')
  return { type: kind === 'user' ? 'USER_ID' : 'API_KEY_ID', id: id.join('-') }
}

/** mustStillRead refuses a link when whoever was given it could not read the export himself any more. */
async function mustStillRead(world: World, row: ExportRow, holder: Identity): Promise<void> {
  const reader = await activeCallerOf(world, row.org_id, holder)
  const isReader = reader !== undefined && isPermitted(reader, 'exports_read')
  if (isReader && (await visibilityFor(world, reader)).seesEach(datasetIds(row))) return
  throw forbidden('whoever was given this link may not read this export any more')
}

type Piece = { holder: Identity; start: number; end: number }

/** recordDownload notes every request that gets bytes of the file, and which. */
async function recordDownload(world: World, facts: RequestFacts, row: ExportRow, { holder, start, end }: Piece): Promise<void> {
  const who = { orgId: row.org_id, identity: holder, name: 'a signed link', facts }
  const after = { from_byte: start, bytes: end - start, of_bytes: row.bytes }
  await world.meta.write(row.org_id, (tx) => recordChange(world, tx, who, { entity: { type: 'export', id: row.id }, after }))
}
