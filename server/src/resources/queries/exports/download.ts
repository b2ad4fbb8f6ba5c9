import { type ExportCompression, type ExportFormat, type Identity, isUuid } from '@dendro/api'
import { hasPermission as isPermitted, type RequestFacts } from '../../../http/actor.ts'
import { Answer } from '../../../http/mount.ts'
import { Failure, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { activeCallerOf } from '../../access/auth/auth.ts'
import { visibilityFor } from '../../data/datasets/datasets.ts'
import { type DownloadLink, holds } from './links.ts'
import { type ExportRow, selectExportById } from './rows.ts'
import { datasetIds, readState } from './state.ts'

/** Serves the file, or the requested byte range, to the holder of a signed link. */
export async function downloadExport(world: World, facts: RequestFacts, link: DownloadLink): Promise<Answer<string>> {
  if (!holds(world, link)) throw forbidden('this link is invalid or has expired; read the export again for a new one')
  const row = isUuid(link.id) ? await selectExportById(world.meta, link.id) : undefined
  if (row?.status !== 'COMPLETE') throw notFound('export', link.id)
  const holder = holderOf(link)
  await checkStillReadable(world, row, holder)
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
  // The HTTP layer streams the body; the contract types it as text.
  return new Answer(span ? 206 : 200, body as unknown as string, headers)
}

const medias: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
}
const packedMedias: Record<Exclude<ExportCompression, 'none'>, string> = { gzip: 'application/gzip', zstd: 'application/zstd' }
const endings: Record<ExportCompression, string> = { none: '', gzip: '.gz', zstd: '.zst' }

/** A compressed file is served as a file of its own, not as a content encoding, which clients would decode. */
const mediaOf = (row: ExportRow): string => {
  const packing = packingOf(row)
  return packing === 'none' ? medias[row.format] : packedMedias[packing]
}
const extensionOf = (row: ExportRow): string => `${row.format}${endings[packingOf(row)]}`
/** The compression of the whole file; Parquet compresses internally. */
const packingOf = ({ format, compression }: ExportRow): ExportCompression => (format === 'parquet' ? 'none' : compression)

/** Parses a Range header. Undefined when it is absent or may be ignored, such as several ranges. */
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

/** The identity that a link was issued to. */
function holderOf({ by = '' }: DownloadLink): Identity {
  const [kind = '', ...id] = by.split('-')
  return { type: kind === 'user' ? 'USER_ID' : 'API_KEY_ID', id: id.join('-') }
}

/** Rejects a link whose holder may no longer read the export. */
async function checkStillReadable(world: World, row: ExportRow, holder: Identity): Promise<void> {
  const reader = await activeCallerOf(world, row.org_id, holder)
  const isReader = reader !== undefined && isPermitted(reader, 'exports_read')
  if (isReader && (await visibilityFor(world, reader)).seesThrough(datasetIds(row), row.event_filters)) return
  throw forbidden('the holder of this link may no longer read this export')
}

type Piece = { holder: Identity; start: number; end: number }

/** Records every request that gets bytes of the file in the audit trail. */
async function recordDownload(world: World, facts: RequestFacts, row: ExportRow, { holder, start, end }: Piece): Promise<void> {
  const who = { orgId: row.org_id, identity: holder, name: 'a signed link', facts }
  const after = { from_byte: start, bytes: end - start, of_bytes: row.bytes }
  await world.meta.write(row.org_id, (tx) => recordChange(world, tx, who, { entity: { type: 'export', id: row.id }, after }))
}
