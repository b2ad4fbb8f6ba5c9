import type { Filter } from '@dendro/language/tree'
import { type Actor, factsOfWork } from '../../../http/actor.ts'
import type { JobContinuation, JobRun } from '../../../jobs/job.ts'
import { Failure } from '../../../kernel/errors.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventQuery, EventsResult } from '../../../reading/query.ts'
import { countMatching, readEvents } from '../../../reading/reading.ts'
import { allDatasets, type DatasetRow, seenThrough } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery, pageBudget, presentKeys } from '../../data/event-queries/event-queries.ts'
import type { ExportWorld } from './export-world.ts'
import type { ExportWriter, FileSink } from './form.ts'
import { forms } from './forms.ts'
import { type ExportRow, type ExportStep, insertNotes, selectNotes, updateExport } from './rows.ts'
import { datasetIds, EXPORTING, type ExportState, readState } from './state.ts'

/** How long one step may work before other exports continue. */
const STEP_MS = 5_000
/** The size of an upload part, written after COMMIT_MS at the latest. Both bound memory and the work repeated after a crash. */
const PART_BYTES = 8 * 2 ** 20
const COMMIT_MS = 2_000
/** Bound the events in memory; small pages would make the store read the same blocks repeatedly. */
const PAGE_EVENTS_MAX = 8_000
const PAGE_EVENTS_FIRST = 200
const PAGE_BYTES = 4 * 2 ** 20
const PROGRESS_WORKING_MAX = 99
const KEYS_MAX = 1_000
/** The maximum number of datasets in one query. */
const DATASETS_PER_COUNT = 500

/** Continues an export for a while. Returns when to continue, or undefined when the export is complete. */
export async function writeStep(world: ExportWorld, job: JobRun, row: ExportRow): Promise<JobContinuation | undefined> {
  const running = await openStep(world, job, row)
  const { clock } = world
  const startedMs = clock.monotonicMs()
  let committedMs = startedMs
  while (running.state.dataset < running.ids.length) {
    job.signal.throwIfAborted()
    await writePage(running)
    const isLate = clock.monotonicMs() - committedMs > COMMIT_MS
    const partBytesMin = world.blobStore.partBytesMin(running.state.parts.length)
    if (isLate && partBytesMin === 0) await running.form.cut()
    if (running.packedBytes < Math.max(isLate ? 1 : PART_BYTES, partBytesMin)) continue
    await commit(running)
    committedMs = clock.monotonicMs()
    if (committedMs - startedMs > STEP_MS) return { againInMs: 0, payload: payloadOf(running) }
  }
  await complete(running)
  return undefined
}

/** The state of an export in progress. */
type ExportWork = {
  readonly world: ExportWorld
  readonly job: JobRun
  readonly row: ExportRow
  readonly ids: readonly string[]
  readonly places: ReadonlyMap<string, DatasetRow>
  readonly filter: Filter
  state: ExportState
  bytes: number
  events: number
  /** Bytes that are not yet in file storage, and the notes that belong to them. */
  packed: Uint8Array[]
  packedBytes: number
  notes: Uint8Array[]
  pageEvents: number
}

type RunningStep = ExportWork & { readonly form: ExportWriter }

async function openStep(world: ExportWorld, job: JobRun, row: ExportRow): Promise<RunningStep> {
  const places = new Map((await allDatasets(world, row.org_id)).map((dataset) => [dataset.id, dataset]))
  const work: ExportWork = {
    world,
    job,
    row,
    ids: datasetIds(row),
    places,
    filter: and(parseFilter(row.search_details.where ?? '').filter, upTo(row.seq_max)),
    state: readState(row),
    bytes: row.bytes,
    events: row.events,
    packed: [],
    packedBytes: 0,
    notes: [],
    pageEvents: PAGE_EVENTS_FIRST,
  }
  if (row.status === 'CREATED') await begin(work)
  const form = forms[row.format]({ compression: row.compression, keys: work.state.columns ?? [] }, sinkOf(work))
  return Object.assign(work, { form })
}

/** Excludes events that arrived after the export was created. */
const upTo = (seqMax: string): Filter => ({
  kind: 'compare',
  key: '@sequence',
  operator: '<=',
  value: { kind: 'number', text: seqMax },
  at: { position: 0, length: 0 },
})

const payloadOf = ({ row, job, state }: ExportWork): Record<string, unknown> => ({
  ...job.payload,
  export_id: row.id,
  upload: state.upload ?? '',
})

/** Opens the file, counts the expected events and collects the columns. */
async function begin(work: ExportWork): Promise<void> {
  const { world, row } = work
  const draft = await world.blobStore.begin(row.id)
  const columns = new Set<string>()
  let expected: number | undefined = 0
  for (let at = 0; at < work.ids.length; at += DATASETS_PER_COUNT) {
    const eventQuery = await eventQueryOf(work, work.ids.slice(at, at + DATASETS_PER_COUNT))
    for (const key of await presentKeys(world.events, eventQuery)) columns.add(key)
    const counted: number | undefined = expected === undefined ? undefined : await countOf(work, eventQuery)
    expected = counted === undefined || expected === undefined ? undefined : expected + counted
  }
  const keys = [...columns].sort().slice(0, KEYS_MAX)
  work.state = {
    ...work.state,
    upload: draft.upload,
    ...(expected === undefined ? {} : { expected }),
    ...(row.format === 'ndjson' ? {} : { columns: keys }),
  }
  await save(work, { status: 'IN_PROGRESS' })
}

/** Undefined when the store refuses to count; progress is then measured by datasets. */
async function countOf({ world, job }: ExportWork, eventQuery: EventQuery): Promise<number | undefined> {
  try {
    return (await countMatching(world.events, eventQuery)).count
  } catch (thrown) {
    job.signal.throwIfAborted()
    if (!(thrown instanceof Failure)) throw thrown
    return undefined
  }
}

async function eventQueryOf({ world, job, row, places, filter }: ExportWork, ids: readonly string[]): Promise<EventQuery> {
  const { from_ts, to_ts } = row.search_details
  const orgNumber = Number(job.payload.org_number)
  return buildEventQuery(world, creatorActor(row, orgNumber), {
    datasets: ids.flatMap((id) => places.get(id) ?? []),
    filter,
    bounds: { fromMs: from_ts, toMs: to_ts },
    signal: job.signal,
    seen: seenThrough(row.event_filters),
    reader: 'export',
    budget: pageBudget(world),
  })
}

/** The creator of the export; what they may see was recorded at creation. */
const creatorActor = ({ org_id, created_by }: ExportRow, orgNumber: number): Actor => ({
  orgId: org_id,
  orgNumber,
  identity: created_by,
  name: '',
  roles: [],
  permissions: new Set(),
  facts: factsOfWork(EXPORTING),
})

/** Writes the next events of the current dataset, oldest first. */
async function writePage(running: RunningStep): Promise<void> {
  const { state, ids, places } = running
  const id = ids[state.dataset] ?? ''
  const { events, hasMore } = await readPage(running, id)
  const place = places.get(id) ?? { collection: '', dataset: '' }
  const textBytes = await running.form.add(events, place)
  const last = events.at(-1)
  running.events += events.length
  const used = { ...state.used, [id]: (state.used[id] ?? 0) + textBytes }
  const { after: _, ...kept } = state
  running.state =
    hasMore && last
      ? { ...state, used, after: { ns: String(last.timeNs), seq: String(last.seq) } }
      : { ...kept, used, dataset: state.dataset + 1 }
  const eventBytes = Math.max(1, textBytes / Math.max(1, events.length))
  running.pageEvents = Math.max(1, Math.min(PAGE_EVENTS_MAX, running.pageEvents * 2, Math.floor(PAGE_BYTES / eventBytes)))
}

const TOO_LARGE = 'the answer would be too large'

/** Retries with fewer events when the page is too large for memory. */
async function readPage(running: ExportWork, id: string): Promise<EventsResult> {
  const { after } = running.state
  const eventQuery = await eventQueryOf(running, [id])
  for (;;) {
    try {
      return await readEvents(running.world.events, eventQuery, {
        limit: running.pageEvents,
        newestFirst: false,
        keys: 'all',
        withRaw: true,
        ...(after ? { after: { timeNs: BigInt(after.ns), seq: BigInt(after.seq) } } : {}),
      })
    } catch (thrown) {
      if (running.pageEvents === 1 || !(thrown instanceof Failure) || !thrown.message.startsWith(TOO_LARGE)) throw thrown
      running.pageEvents = Math.ceil(running.pageEvents / 8)
    }
  }
}

/** Collects what the format writes until the next commit stores it. */
const sinkOf = (running: ExportWork): FileSink => ({
  at: () => running.bytes + running.packedBytes,
  write: (bytes) => {
    running.packed.push(bytes)
    running.packedBytes += bytes.byteLength
  },
  note: (piece) => void running.notes.push(piece),
  noted: async () => [
    ...(await selectNotes(running.world.meta, running.row.org_id, running.row.id)).map(({ note }) => note),
    ...running.notes,
  ],
})

/** Stores the collected bytes in file storage, then saves the position they reach to. */
async function commit(running: RunningStep): Promise<void> {
  const { world, job, row } = running
  await running.form.cut()
  const { state } = running
  const draft = { key: row.id, upload: state.upload ?? '' }
  const bytes = Buffer.concat(running.packed)
  const part = await world.blobStore.put(draft, state.parts, { epoch: job.fence, bytes })
  running.state = { ...state, parts: [...state.parts, part], notes: state.notes + running.notes.length }
  running.bytes += part.bytes
  running.packed = []
  running.packedBytes = 0
  await save(running, { status: 'IN_PROGRESS' })
  running.notes = []
}

async function complete(running: RunningStep): Promise<void> {
  const { world, row } = running
  if (!running.state.isEnded) {
    await running.form.end()
    running.state = { ...running.state, isEnded: true }
    if (running.packed.length > 0) await commit(running)
  }
  await world.blobStore.finish({ key: row.id, upload: running.state.upload ?? '' }, running.state.parts)
  await save(running, { status: 'COMPLETE', progress: 100, ended_at: world.clock.nowMs() })
  noteUsage(running)
}

/** Saves the progress, unless another process holds the job or the export was deleted. */
async function save(
  { world, job, row, state, bytes, events, ids, notes }: ExportWork,
  step: Partial<ExportStep> & Pick<ExportStep, 'status'>,
): Promise<void> {
  const share = state.expected ? events / state.expected : state.dataset / ids.length
  const progress = Math.min(PROGRESS_WORKING_MAX, Math.floor(share * 100))
  const next: ExportStep = { progress, bytes, events, state, failure_detail: null, ended_at: null, ...step }
  const saved = await world.meta.write(row.org_id, async (tx) => {
    await job.hold(tx)
    if (notes.length > 0) await insertNotes(tx, row.org_id, row.id, { first: state.notes - notes.length, notes })
    return updateExport(tx, row.org_id, row.id, next, world.clock.nowMs())
  })
  if (saved === 0) throw new ExportGone(row.id)
}

/** Thrown when an export was deleted while it was written; the next attempt cleans up. */
class ExportGone extends Error {
  constructor(id: string) {
    super(`the export ${id} was deleted while it was written`)
    this.name = 'ExportGone'
  }
}

/** Distributes the bytes of the file over the datasets. */
function noteUsage({ world, row, state, bytes }: RunningStep): void {
  const whole = Object.values(state.used).reduce((sum, own) => sum + own, 0)
  const latencyMs = Math.max(0, world.clock.nowMs() - row.created_at)
  let left = bytes
  const all = Object.entries(state.used)
  for (const [index, [logId, used]] of all.entries()) {
    const own = index === all.length - 1 ? left : Math.floor((bytes * used) / Math.max(1, whole))
    left -= own
    world.usage.note({ kind: 'export', orgId: row.org_id, identityId: row.created_by.id, logIds: [logId], bytes: own, latencyMs })
  }
}
