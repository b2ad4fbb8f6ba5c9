import type { JobRun } from '../../jobs/job.ts'
import { allDatasets } from '../../resources/data/datasets/datasets.ts'
import {
  advanceFile,
  planBatch,
  type RehydrationFileRow,
  type RehydrationRow,
  selectEarlier,
  selectRehydration,
} from '../../resources/data/rehydrations/rehydrations.ts'
import { ObjectChanged, OriginError } from '../../resources/data/sources/sources.ts'
import { checkExpansion, checkName, HEAD_BYTES, isParquet, parquetContent } from '../parquet/parquet-content.ts'
import { type RehydratedNotes, type RehydratedQuery, rehydrated } from '../receivers/rehydrated/rehydrated.ts'
import { BrokenContent, bytesOf, CHANGED, compressionIn, type SourceContent, unpackedContent } from '../sources/content.ts'
import { BATCH_BYTES, countLines, endOfBatch, endsInLine, halfOf, linesOfBatchFrom } from '../sources/lines.ts'
import { type SourceWorld, storeSourceBatch } from '../sources/post.ts'
import { linesOfRecords } from '../sources/records.ts'
import { closeContent, type OpenContent, type OpenRehydration } from './open-rehydrations.ts'

export type RehydrationStep = {
  readonly world: SourceWorld
  readonly job: JobRun
  readonly row: RehydrationRow
  readonly open: OpenRehydration
  readonly untilMs: number
}

/** How many earlier selections of a file are compared. */
const EARLIER_MAX = 50
/** How much is decompressed on the way to a position before the step may end. */
const SKIP_BYTES = 64 * 2 ** 20
/** How much of a file is read at once while it is decompressed. A request to a bucket costs more than one to a disk. */
const CHUNK_BYTES = { DIRECTORY: 256 * 2 ** 10, S3: 4 * 2 ** 20 }

export const isCancelled = async ({ world, row }: Pick<RehydrationStep, 'world' | 'row'>): Promise<boolean> =>
  (await selectRehydration(world.meta, row.org_id, row.id))?.status === 'CANCELLING'

type Advance = Parameters<typeof advanceFile>[2]
const NO_EVENTS = { read_events: 0, stored_events: 0, earlier_events: 0, unselected_events: 0, refused_events: 0 }
const NOTHING: Pick<Advance, 'in_line' | keyof typeof NO_EVENTS> = { ...NO_EVENTS, in_line: false }

type SaveStep = Pick<RehydrationStep, 'world' | 'job' | 'row'>

async function save({ world, job, row }: SaveStep, file: RehydrationFileRow, after: Omit<Advance, 'position'> & { position?: number }) {
  await world.meta.write(row.org_id, async (tx) => {
    await job.hold(tx)
    await advanceFile(tx, file, { position: file.position, ...after })
  })
}

export const refuseFile = (step: SaveStep, file: RehydrationFileRow, failure_detail: string, position = file.position): Promise<void> =>
  save(step, file, { ...NOTHING, status: 'REFUSED', failure_detail, position })

/**
 * Stores a file, batch by batch, until it ends, the step is over, or the rehydration is cancelled. Its content stays open for the next step, unless it
 * has ended or could not be read: then it is not known how far it was read.
 */
export async function readFile(step: RehydrationStep, first: RehydrationFileRow): Promise<void> {
  const { world, row, open, job } = step
  const earlier = await selectEarlier(world.meta, row, first.file)
  if (earlier.length > EARLIER_MAX) {
    return refuseFile(step, first, `more than ${EARLIER_MAX} rehydrations with different filters or ranges have read it into the dataset`)
  }
  let file = first
  let isLeftOpen = false
  try {
    const reading = await contentOf(step, file)
    for (;;) {
      job.signal.throwIfAborted()
      if (!(await skipTo(step, reading, file.position))) {
        isLeftOpen = true
        return
      }
      const batch = await nextBatch(reading.content, file, earlier, job.signal)
      reading.at = file.position + batch.length
      if (batch.length === 0) return await endFile(step, file, reading.broken[0])
      checkExpansion(file.position, file.bytes)
      // A batch that cannot be stored now is read again from what is kept.
      isLeftOpen = true
      file = await storeBatch(step, file, batch, earlier)
      if (world.clock.monotonicMs() > step.untilMs || (await isCancelled(step))) return
      isLeftOpen = false
    }
  } catch (thrown) {
    if (job.signal.aborted || !(thrown instanceof ObjectChanged || thrown instanceof BrokenContent)) throw thrown
    await refuseFile(step, file, thrown.message)
  } finally {
    if (!isLeftOpen) await closeContent(open)
  }
}

const endFile = (step: SaveStep, file: RehydrationFileRow, broken: BrokenContent | undefined): Promise<void> =>
  broken ? refuseFile(step, file, broken.message) : save(step, file, { ...NOTHING, status: 'COMPLETE', failure_detail: null })

/** The content that an earlier step has left open, or that of the file from its beginning. */
async function contentOf({ open, row }: RehydrationStep, file: RehydrationFileRow): Promise<OpenContent> {
  if (open.reading?.number === file.number) return open.reading
  await closeContent(open)
  const found = open.origin.files.get(file.file)
  if (!found) throw new ObjectChanged(CHANGED)
  const raw = await found.open()
  const broken: BrokenContent[] = []
  open.reading = { number: file.number, content: raw, broken, at: 0 }
  const onBroken = (cause: BrokenContent) => void broken.push(cause)
  const head = Buffer.from(await raw.read(0, HEAD_BYTES))
  checkName(found.name, head)
  if (isParquet(head)) {
    const content = parquetContent(raw, { bytes: found.bytes, onBroken, signal: open.signal, withFields: file.form === 2 })
    open.reading = { ...open.reading, content }
    return open.reading
  }
  const convert = row.origin.kind === 'S3' && row.origin.format === 'RECORDS' ? { convert: linesOfRecords } : {}
  if (!convert.convert && compressionIn(head) === undefined) return open.reading
  const content = unpackedContent(async () => bytesOf(raw, CHUNK_BYTES[row.origin.kind]), {
    unpacking: 'detect',
    ...convert,
    onBroken,
    close: raw.close,
  })
  open.reading = { ...open.reading, content }
  return open.reading
}

/** Decompresses up to a position. Returns false when the step is over, or the rehydration cancelled, before it is there. */
async function skipTo(step: RehydrationStep, reading: OpenContent, position: number): Promise<boolean> {
  while (position - reading.at > SKIP_BYTES) {
    reading.at += SKIP_BYTES
    await reading.content.read(reading.at, 0, step.job.signal)
    if (step.world.clock.monotonicMs() > step.untilMs || (await isCancelled(step))) return false
  }
  return true
}

type Earlier = Awaited<ReturnType<typeof selectEarlier>>

/** The batch that was planned, or the next one. It ends where an earlier rehydration has ended. */
async function nextBatch(content: SourceContent, file: RehydrationFileRow, earlier: Earlier, signal: AbortSignal): Promise<Uint8Array> {
  if (file.planned_to !== null) return content.read(file.position, file.planned_to - file.position, signal)
  const ends = earlier.map(({ position }) => position - file.position).filter((bytes) => bytes > 0)
  const bytes = await content.read(file.position, BATCH_BYTES, signal)
  return bytes.subarray(0, Math.min(endOfBatch(bytes, true), ...ends))
}

async function storeBatch(
  step: RehydrationStep,
  file: RehydrationFileRow,
  batch: Uint8Array,
  earlier: Earlier,
): Promise<RehydrationFileRow> {
  const { world, row, job } = step
  const dataset = (await allDatasets(world, row.org_id)).find(({ id }) => id === row.log_id)
  if (!dataset) throw new OriginError('the dataset does not exist any more')
  const query: RehydratedQuery = {
    wanted: { fromMs: row.from_ts, toMs: row.to_ts, filter: row.filter },
    earlier: earlier
      .filter(({ position }) => position > file.position)
      .map(({ from_ts, to_ts, filter }) => ({ fromMs: from_ts, toMs: to_ts, filter })),
    atMs: row.created_at,
    collection: dataset.collection,
    dataset: dataset.dataset,
  }
  const owner = { org_id: row.org_id, org_number: Number(job.payload.org_number), id: row.id, name: 'rehydration', log_id: row.log_id }
  const sinceMs = file.planned_at ?? undefined
  let bytes = batch
  for (let isWhole = false; ; ) {
    const to = file.position + bytes.length
    if ((await planBatch(world.meta, file, to, world.clock.nowMs())) === 0) throw new Error('another process has moved on')
    const body = Uint8Array.from(linesOfBatchFrom(bytes, file.in_line))
    const key = `rehydration/${row.id}/${file.number}/${file.position}-${to}`
    const events = countLines(body)
    const post = { parser: rehydrated, query: { rehydration: JSON.stringify(query) }, body, key, sinceMs, events, isWhole }
    const result = body.length === 0 ? NO_POST : await storeSourceBatch(world, owner, post)
    if (result.kind === 'too-much') {
      const half = halfOf(bytes)
      isWhole = half === 0
      if (!isWhole) bytes = bytes.subarray(0, half)
      continue
    }
    const notes = (result.notes ?? { read: events, earlier: 0, unselected: 0 }) as RehydratedNotes
    const after: Advance = {
      position: to,
      in_line: endsInLine(bytes),
      status: 'WAITING',
      failure_detail: null,
      read_events: notes.read,
      stored_events: result.events,
      earlier_events: notes.earlier,
      unselected_events: notes.unselected,
      refused_events: result.refused,
    }
    await save(step, file, after)
    return { ...file, position: to, in_line: after.in_line, planned_to: null, planned_at: null }
  }
}

const NO_POST = { kind: 'stored', events: 0, refused: 0, notes: { read: 0, earlier: 0, unselected: 0 } } as const
