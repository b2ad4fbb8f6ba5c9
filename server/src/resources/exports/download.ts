import { type ExportCompression, type ExportFormat, isUuid } from '@dendro/api'
import { Failure, forbidden, notFound } from '../../errors.ts'
import type { RequestFacts } from '../../http/actor.ts'
import { Answer } from '../../http/mount.ts'
import type { World } from '../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { holds, type Link } from './links.ts'
import { type ExportRow, selectExportById } from './rows.ts'
import { readState } from './state.ts'

/** downloadExport serves the file, or the piece of it that is asked for, to whoever holds a link. */
export async function downloadExport(world: World, facts: RequestFacts, link: Link): Promise<Answer<string>> {
  if (!holds(world, link))
    throw forbidden('this link is not signed by this service, or its time is over; read the export again for a new one')
  const row = isUuid(link.id) ? await selectExportById(world.meta, link.id) : undefined
  if (row?.status !== 'COMPLETE') throw notFound('export', link.id)
  const whole = { start: 0, end: row.bytes }
  const span = spanOf(facts.range, row.bytes)
  if (span === 'beyond') {
    throw new Failure(416, `the file has ${row.bytes} bytes`, { headers: { 'content-range': `bytes */${row.bytes}` } })
  }
  const { start, end } = span ?? whole
  if (start === 0) await recordDownload(world, facts, row, link.by ?? '')
  const body = await world.depot.read(row.id, readState(row).parts, { start, end })
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

async function recordDownload(world: World, facts: RequestFacts, row: ExportRow, by: string): Promise<void> {
  const [kind = '', ...id] = by.split('-')
  const identity = { type: kind === 'user' ? ('USER_ID' as const) : ('API_KEY_ID' as const), id: id.join('-') }
  await world.meta.write(row.org_id, (tx) =>
    recordChange(world, tx, { orgId: row.org_id, identity, name: 'a signed link', facts }, { entity: { type: 'export', id: row.id } }),
  )
}
