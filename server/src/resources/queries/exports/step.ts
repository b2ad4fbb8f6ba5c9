import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import type { JobContinuation, JobRun } from '../../../jobs/job.ts'
import { Failure } from '../../../kernel/errors.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventsResult, EventQuery } from '../../../reading/event-query.ts'
import { countMatching, readEvents } from '../../../reading/reading.ts'
import { allDatasets, type DatasetRow } from '../../data/datasets/datasets.ts'
import { and, questionFor } from '../../data/event-queries/event-queries.ts'
import type { ExportWorld } from './export-world.ts'
import type { Form, Sink } from './form.ts'
import { forms } from './forms.ts'
import { type ExportRow, type ExportStep, insertNotes, selectNotes, updateExport } from './rows.ts'
import { datasetIds, EXPORTING, type ExportState, readState } from './state.ts'

/** TURN_MS is how long an export is worked on before others have their turn. */
const TURN_MS = 5_000
/** PART_BYTES is how much is written at once, COMMIT_MS after what time at the latest: it bounds memory, and what a killed process has to do again. */
const PART_BYTES = 8 * 2 ** 20
const COMMIT_MS = 2_000
/** PAGE_EVENTS_MAX and PAGE_BYTES bound what is held of events that were read; small pages make the store read the same blocks again and again. */
const PAGE_EVENTS_MAX = 8_000
const PAGE_EVENTS_FIRST = 200
const PAGE_BYTES = 4 * 2 ** 20
/** THREADS is how many of the store's threads an export has, so that those who search have the others. */
const THREADS = 1
/** PAGE_SECONDS is what one page may take the store, however rare what is sought. */
const PAGE_SECONDS = 600
const PROGRESS_WORKING_MAX = 99
const KEYS_MAX = 1_000
/** DATASETS_PER_COUNT is what one question may read. */
const DATASETS_PER_COUNT = 500

/** writeTurn goes on with an export for a while; it gives back when to go on, or nothing when the export is complete. */
export async function writeTurn(world: ExportWorld, job: JobRun, row: ExportRow): Promise<JobContinuation | undefined> {
  const turn = await openTurn(world, job, row)
  const { clock } = world
  const startedMs = clock.monotonicMs()
  let committedMs = startedMs
  while (turn.state.dataset < turn.ids.length) {
    job.signal.throwIfAborted()
    await writePage(turn)
    const isLate = clock.monotonicMs() - committedMs > COMMIT_MS
    const partBytesMin = world.blobStore.partBytesMin(turn.state.parts.length)
    if (isLate && partBytesMin === 0) await turn.form.cut()
    if (turn.packedBytes < Math.max(isLate ? 1 : PART_BYTES, partBytesMin)) continue
    await commit(turn)
    committedMs = clock.monotonicMs()
    if (committedMs - startedMs > TURN_MS) return { againInMs: 0, payload: payloadOf(turn) }
  }
  await complete(turn)
  return undefined
}

/** A Work is what an export is made from and how far it is. */
type Work = {
  readonly world: ExportWorld
  readonly job: JobRun
  readonly row: ExportRow
  readonly ids: readonly string[]
  readonly places: ReadonlyMap<string, DatasetRow>
  readonly filter: Filter
  state: ExportState
  bytes: number
  events: number
  /** packed is what is written and not yet put into the depot, notes what goes with it. */
  packed: Uint8Array[]
  packedBytes: number
  notes: Uint8Array[]
  pageEvents: number
}

type Turn = Work & { readonly form: Form }

async function openTurn(world: ExportWorld, job: JobRun, row: ExportRow): Promise<Turn> {
  const places = new Map((await allDatasets(world, row.org_id)).map((dataset) => [dataset.id, dataset]))
  const work: Work = {
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

/** upTo leaves out what arrived after the export was ordered. */
const upTo = (seqMax: string): Filter => ({
  kind: 'compare',
  key: '@sequence',
  operator: '<=',
  value: { kind: 'number', text: seqMax },
  at: { position: 0, length: 0 },
})

const payloadOf = ({ row, job, state }: Work): Record<string, unknown> => ({
  ...job.payload,
  export_id: row.id,
  upload: state.upload ?? '',
})

/** begin opens the file and finds out what there will be in it. */
async function begin(work: Work): Promise<void> {
  const { world, row } = work
  const draft = await world.blobStore.begin(row.id)
  const columns = new Set<string>()
  let expected: number | undefined = 0
  for (let at = 0; at < work.ids.length; at += DATASETS_PER_COUNT) {
    const question = await questionOf(work, work.ids.slice(at, at + DATASETS_PER_COUNT))
    for (const { located } of question.sources) for (const key of located?.map.slots.keys() ?? []) columns.add(key)
    const counted: number | undefined = expected === undefined ? undefined : await countOf(work, question)
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

/** countOf is undefined where the store refuses to count; then the progress goes by datasets. */
async function countOf({ world, job }: Work, question: EventQuery): Promise<number | undefined> {
  try {
    return (await countMatching(world.events, question)).count
  } catch (thrown) {
    job.signal.throwIfAborted()
    if (!(thrown instanceof Failure)) throw thrown
    return undefined
  }
}

async function questionOf({ world, job, row, places, filter }: Work, ids: readonly string[]): Promise<EventQuery> {
  const { from_ts, to_ts } = row.search_details
  const orgNumber = Number(job.payload.org_number)
  return questionFor(world, ordererOf(row, orgNumber), {
    datasets: ids.flatMap((id) => places.get(id) ?? []),
    filter,
    bounds: { fromMs: from_ts, toMs: to_ts },
    signal: job.signal,
    reader: 'export',
    budget: {
      bytes: Number.MAX_SAFE_INTEGER,
      rows: Number.MAX_SAFE_INTEGER,
      seconds: PAGE_SECONDS,
      memoryBytes: world.deployment.queryLimits.memoryBytes,
      threads: THREADS,
    },
  })
}

/** ordererOf stands for whoever ordered an export; what he may see was decided then. */
const ordererOf = ({ org_id, created_by }: ExportRow, orgNumber: number): Actor => ({
  orgId: org_id,
  orgNumber,
  identity: created_by,
  name: '',
  roles: [],
  permissions: new Set(),
  facts: { correlationId: '', action: EXPORTING, address: '', userAgent: '', accept: '', baseUrl: '' },
})

/** writePage reads the next events of the dataset at hand, oldest first, and moves on behind them. */
async function writePage(turn: Turn): Promise<void> {
  const { state, ids, places } = turn
  const id = ids[state.dataset] ?? ''
  const { events, hasMore } = await readPage(turn, id)
  const place = places.get(id) ?? { collection: '', dataset: '' }
  const textBytes = await turn.form.add(events, place)
  const last = events.at(-1)
  turn.events += events.length
  const used = { ...state.used, [id]: (state.used[id] ?? 0) + textBytes }
  const { after: _, ...kept } = state
  turn.state =
    hasMore && last
      ? { ...state, used, after: { ns: String(last.timeNs), seq: String(last.seq) } }
      : { ...kept, used, dataset: state.dataset + 1 }
  const eventBytes = Math.max(1, textBytes / Math.max(1, events.length))
  turn.pageEvents = Math.max(1, Math.min(PAGE_EVENTS_MAX, turn.pageEvents * 2, Math.floor(PAGE_BYTES / eventBytes)))
}

const TOO_LARGE = 'the answer would be too large'

/** readPage asks for fewer events when those that are next are too large to be held at once. */
async function readPage(turn: Work, id: string): Promise<EventsResult> {
  const { after } = turn.state
  const question = await questionOf(turn, [id])
  for (;;) {
    try {
      return await readEvents(turn.world.events, question, {
        limit: turn.pageEvents,
        newestFirst: false,
        keys: 'all',
        withRaw: true,
        ...(after ? { after: { timeNs: BigInt(after.ns), seq: BigInt(after.seq) } } : {}),
      })
    } catch (thrown) {
      if (turn.pageEvents === 1 || !(thrown instanceof Failure) || !thrown.message.startsWith(TOO_LARGE)) throw thrown
      turn.pageEvents = Math.ceil(turn.pageEvents / 8)
    }
  }
}

/** sinkOf takes what the form writes; all of it is put into the depot by the next commit. */
const sinkOf = (turn: Work): Sink => ({
  at: () => turn.bytes + turn.packedBytes,
  write: (bytes) => {
    turn.packed.push(bytes)
    turn.packedBytes += bytes.byteLength
  },
  note: (piece) => void turn.notes.push(piece),
  noted: async () => [...(await selectNotes(turn.world.meta, turn.row.org_id, turn.row.id)).map(({ note }) => note), ...turn.notes],
})

/** commit puts what is written into the depot, then notes it together with where it ends. */
async function commit(turn: Turn): Promise<void> {
  const { world, job, row } = turn
  await turn.form.cut()
  const { state } = turn
  const draft = { key: row.id, upload: state.upload ?? '' }
  const bytes = Buffer.concat(turn.packed)
  const part = await world.blobStore.put(draft, state.parts, { epoch: job.fence, bytes })
  turn.state = { ...state, parts: [...state.parts, part], notes: state.notes + turn.notes.length }
  turn.bytes += part.bytes
  turn.packed = []
  turn.packedBytes = 0
  await save(turn, { status: 'IN_PROGRESS' })
  turn.notes = []
}

async function complete(turn: Turn): Promise<void> {
  const { world, row } = turn
  if (!turn.state.isEnded) {
    await turn.form.end()
    turn.state = { ...turn.state, isEnded: true }
    if (turn.packed.length > 0) await commit(turn)
  }
  await world.blobStore.finish({ key: row.id, upload: turn.state.upload ?? '' }, turn.state.parts)
  await save(turn, { status: 'COMPLETE', progress: 100, ended_at: world.clock.nowMs() })
  noteUsage(turn)
}

/** save writes down how far the export is, unless somebody else holds the job by now or the export is gone. */
async function save(
  { world, job, row, state, bytes, events, ids, notes }: Work,
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

/** An ExportGone says that an export was deleted while it was worked on; the next attempt finds that out and clears away. */
class ExportGone extends Error {
  constructor(id: string) {
    super(`the export ${id} was deleted while it was written`)
    this.name = 'ExportGone'
  }
}

/** noteUsage shares the bytes of the file out by what each dataset gave to it. */
function noteUsage({ world, row, state, bytes }: Turn): void {
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
