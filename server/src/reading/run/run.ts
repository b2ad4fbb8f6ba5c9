import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { isShardUnavailable } from '../../events/store/away.ts'
import type { EventStore } from '../../events/store/events.ts'
import { missingShards } from '../../events/store/events.ts'
import { unavailable } from '../../kernel/errors.ts'
import { nextStep } from '../../kernel/steps.ts'
import type { EventQuery, QueryBudget, QueryCost, TimeBounds } from '../query.ts'
import { encodeStatement } from '../sql/request-body.ts'
import { type BoundStatement, bindStatement, hasTrait, type SqlFragment, type Uses } from '../sql/sql.ts'
import { failureOf, type GroupLimit, tooLong, tooSlow } from './failure.ts'
import { BinaryRows } from './row-binary.ts'
import { type ReadScope, type RepeatedQuery, readScope, resultPlace, type StatementResult } from './statement-results.ts'
import { type AdmissionWait, noAdmissionWait, runAdmitted } from './with-admission.ts'

type RunnableQuery = Pick<EventQuery, 'orgNumber' | 'budget' | 'signal' | 'onProgress' | 'gaps' | 'ticket'>

/** The progress of a query: what its statements have cost so far, and what they may still cost. */
export type QueryRun = RunnableQuery & {
  /** Excludes the time that the query waited for admission. */
  startedMs: number
  readonly admissionWait: AdmissionWait
  /** The events that its statements may read. Undefined when their results are not kept. */
  readonly scope: ReadScope | undefined
  /** Older events are not read. */
  readonly fromMs: number
  rows: number
  bytes: number
  /** Those of `rows` that were read by statements on stored counts. */
  storedRows: number
  /** Set when events of its datasets are hidden from the reader. What is skipped by an index would tell whether they have a value. */
  readonly isCostCoarse: boolean
}

export const startQueryRun = (query: RunnableQuery & Partial<RepeatedQuery>): QueryRun => ({
  ...runnableOf(query),
  scope: readScope(query),
  fromMs: query.bounds?.fromMs ?? Number.NEGATIVE_INFINITY,
  startedMs: performance.now(),
  admissionWait: noAdmissionWait(),
  rows: 0,
  bytes: 0,
  storedRows: 0,
  isCostCoarse: query.sources?.some(({ required }) => required !== undefined) ?? false,
})

const runnableOf = ({ orgNumber, budget, signal, onProgress, gaps, ticket }: RunnableQuery): RunnableQuery => ({
  orgNumber,
  budget,
  signal,
  ...(onProgress ? { onProgress } : {}),
  ...(gaps ? { gaps } : {}),
  ...(ticket ? { ticket } : {}),
})

/** The steps of coarse costs, which are larger than what an index skips at once. */
const COARSE_ROWS = 2 ** 20
const COARSE_BYTES = 16 * 2 ** 20

const inSteps = (value: number, step: number): number => Math.ceil(value / step) * step

export const costOf = ({ rows, bytes, startedMs, isCostCoarse }: QueryRun, share: number): QueryCost => ({
  rows: isCostCoarse ? inSteps(rows, COARSE_ROWS) : rows,
  bytes: isCostCoarse ? inSteps(bytes, COARSE_BYTES) : bytes,
  elapsedMs: performance.now() - startedMs,
  share,
})

/** A result is held in memory completely. */
const RESULT_BYTES_MAX = 256 * 2 ** 20
const PROGRESS_EVERY_MS = 500
/** The maximum length of a statement. The store takes seconds to prepare a statement of this size, whatever it reads. */
const TEXT_BYTES_MAX = 2 * 2 ** 20
/** What a value in an array counts for, which takes as long to prepare as so much text. */
const ELEMENT_BYTES = 16_384
const TREE_NODES_MAX = 5_000_000
/** The block size of statements that rebuild lines. */
const LINES_PER_BLOCK = 4_096
/** The block size of statements that test columns of a few candidates. In large blocks each of their many conditions is prepared less often. */
const CANDIDATES_BLOCK_BYTES = '16000000'
const PARSER_STEPS_MAX = 1_000_000_000
const CORES = availableParallelism()
/** Beyond this, searching all columns costs more than stopping at the first one with the text. */
const SEARCHES_MAX = 40
/** The store may end a statement this long after its time limit. Later it counts as hanging. */
const LATE_MS = 10_000
const KILL_BOUND_MS = 2_000

/** A statement, and the range of the events that it reads. */
export type BoundedStatement = { readonly statement: SqlFragment; readonly bounds: TimeBounds }

/** `bounds` are those of the events that the statement may read, if they are narrower than those of the query. */
type RunOptions = { readonly sampleRows?: number | undefined; readonly bounds?: TimeBounds }

/**
 * Runs one statement as the organization, returns its rows and adds up their cost. A disconnected caller ends the statement in the store
 * too. With `sampleRows` the statement stops after about that many rows. When gaps are allowed, an unavailable part of the store is left
 * out.
 */
export async function run(
  store: EventStore,
  queryRun: QueryRun,
  statement: SqlFragment,
  groupLimit?: GroupLimit,
  { sampleRows, bounds }: RunOptions = {},
): Promise<BinaryRows> {
  const { gaps, signal } = queryRun
  const scope = queryRun.scope && bounds ? { ...queryRun.scope, bounds } : queryRun.scope
  const bound = bindStatement(statement)
  const limits = { groupsMax: groupLimit?.groupsMax, memoryBytes: queryRun.budget.memoryBytes }
  const place = sampleRows === undefined ? resultPlace(store, scope, bound, limits) : undefined
  try {
    if (hasManyValues(bound)) await nextStep()
    signal.throwIfAborted()
    const kept = place?.find()
    if (kept && isWithinBudget(queryRun, kept)) return rowsOf(queryRun, bound, kept)
    return await runAdmitted(store, queryRun, CORES, async (share, running) => {
      const keep = place?.reading()
      const fromMs = bounds?.fromMs ?? queryRun.fromMs
      const options = { ...(groupLimit ? { grouping: groupLimit } : {}), sampleRows, share, running, fromMs }
      if (gaps && !gaps.found) {
        try {
          const result = await send(store, queryRun, bound, options)
          keep?.(result)
          return rowsOf(queryRun, bound, result)
        } catch (thrown) {
          if (!isShardUnavailable(thrown)) throw thrown
          gaps.found = true
          gaps.shards ??= await missingShards(store)
        }
      }
      const result = await send(store, queryRun, bound, options)
      if (!gaps?.found) keep?.(result)
      return rowsOf(queryRun, bound, result)
    })
  } catch (cause) {
    throw isTimeout(cause) || isTimeout(signal.reason) ? unavailable('the event store did not answer in time', { cause }) : cause
  }
}

/** Runs statements at the same time, and returns the rows of each. */
export const runAtOnce = (
  store: EventStore,
  queryRun: QueryRun,
  statements: readonly BoundedStatement[],
  groupLimit?: GroupLimit,
  sampleRows?: number,
): Promise<readonly BinaryRows[]> =>
  Promise.all(statements.map(({ statement, bounds }) => run(store, queryRun, statement, groupLimit, { sampleRows, bounds })))

const VALUES_MANY = 1_000

/** Whether preparing a statement takes so long that others should go first between its steps. */
const hasManyValues = ({ tables }: BoundStatement): boolean => Object.values(tables).some(({ values }) => values.length > VALUES_MANY)

/** A kept result counts like one that is read now, so that limits and costs do not depend on what others have read. */
function rowsOf(queryRun: QueryRun, bound: BoundStatement, { bytes, rows, readRows, readBytes }: StatementResult): BinaryRows {
  queryRun.rows += readRows
  if (hasTrait(bound, 'storedCounts')) queryRun.storedRows += readRows
  queryRun.bytes += readBytes
  return new BinaryRows(bytes, rows)
}

export const isWithinBudget = (
  { budget, rows, bytes }: QueryRun,
  { readRows, readBytes }: Pick<StatementResult, 'readRows' | 'readBytes'>,
): boolean => rows + readRows <= budget.rows && bytes + readBytes <= budget.bytes

/** Whether a signal aborted by timeout, not because the caller disconnected. */
const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

type SendOptions = { grouping?: GroupLimit; sampleRows: number | undefined; share: Record<string, string>; running: number; fromMs: number }

async function send(
  store: EventStore,
  queryRun: QueryRun,
  bound: BoundStatement,
  { grouping: groupLimit, sampleRows, share, running, fromMs }: SendOptions,
): Promise<StatementResult> {
  const { budget } = queryRun
  const secondsLeft = budget.seconds - (performance.now() - queryRun.startedMs) / 1_000
  if (secondsLeft <= 0) throw tooSlow(budget)
  const length = bound.text.length + (bound.uses.arrayElement ?? 0) * ELEMENT_BYTES
  if (length > TEXT_BYTES_MAX) throw tooLong(length / TEXT_BYTES_MAX)
  const { body, contentType } = encodeStatement(bound, 'RowBinary')
  if (hasManyValues(bound)) await nextStep()
  const queryId = randomUUID()
  const { signal, release } = endingWith(queryRun.signal, Math.ceil(secondsLeft * 1_000) + LATE_MS)
  const progressReport = reportProgress(store, queryRun, queryId)
  try {
    return await store.read({
      body,
      contentType,
      queryId,
      signal,
      fromMs,
      resultBytesMax: RESULT_BYTES_MAX,
      settings: {
        log_comment: String(queryRun.orgNumber),
        precise_float_parsing: 1,
        max_execution_time: Math.max(secondsLeft, 0.001),
        timeout_overflow_mode: 'throw',
        max_bytes_to_read: String(Math.max(1, Math.floor(budget.bytes - queryRun.bytes))),
        max_rows_to_read: String(Math.max(1, sampleRows ?? Math.floor(budget.rows - queryRun.rows))),
        read_overflow_mode: sampleRows === undefined ? 'throw' : 'break',
        max_result_bytes: String(RESULT_BYTES_MAX),
        result_overflow_mode: 'throw',
        ...share,
        max_query_size: String(TEXT_BYTES_MAX),
        max_ast_elements: String(TREE_NODES_MAX),
        max_expanded_ast_elements: String(TREE_NODES_MAX),
        max_parser_backtracks: String(PARSER_STEPS_MAX),
        ...settingsFor(bound.uses),
        ...(groupLimit ? { max_rows_to_group_by: String(groupLimit.groupsMax), group_by_overflow_mode: 'throw' as const } : {}),
        ...(queryRun.gaps?.found ? { skip_unavailable_shards: 1 as const } : {}),
        ...memorySettings(store, budget, running),
      },
    })
  } catch (cause) {
    if (signal.aborted) await kill(store, queryId)
    signal.throwIfAborted()
    throw failureOf(cause, budget, groupLimit)
  } finally {
    release()
    progressReport.stop()
  }
}

/** The settings for what a statement does. */
function settingsFor(uses: Uses): Record<string, string | 0> {
  const rebuildsLines = hasTrait({ uses }, 'lineRebuild')
  const testsCandidates = hasTrait({ uses }, 'candidates') && !rebuildsLines
  const searches = uses.textSearch ?? 0
  const searchesColumns = searches > 1 && searches <= SEARCHES_MAX && !hasTrait({ uses }, 'costlyValue')
  return {
    ...(rebuildsLines || hasTrait({ uses }, 'lineValues') ? { max_block_size: String(LINES_PER_BLOCK) } : {}),
    // Looking for stored counts takes a millisecond.
    ...(hasTrait({ uses }, 'storedCounts') ? {} : { optimize_use_projections: 0 }),
    // Reading the index of words before the events, not in between, takes a third less time.
    ...(hasTrait({ uses }, 'wordIndex') ? { use_skip_indexes_on_data_read: 0 } : {}),
    ...(testsCandidates ? { preferred_block_size_bytes: CANDIDATES_BLOCK_BYTES } : {}),
    // Picking the events that an earlier condition leaves open copies their texts.
    ...(searchesColumns || testsCandidates ? { short_circuit_function_evaluation: 'disable' } : {}),
  }
}

/** A signal that aborts with another, or after a time. `AbortSignal.timeout` would keep its timer long after the statement. */
function endingWith(other: AbortSignal, afterMs: number): { signal: AbortSignal; release(): void } {
  const ending = new AbortController()
  const end = (): void => ending.abort(other.reason)
  const late = (): void => ending.abort(new DOMException('the event store did not answer in time', 'TimeoutError'))
  const timer = setTimeout(late, afterMs)
  if (other.aborted) end()
  else other.addEventListener('abort', end, { once: true })
  return {
    signal: ending.signal,
    release: () => {
      clearTimeout(timer)
      other.removeEventListener('abort', end)
    },
  }
}

/** The share of the memory of all queries that sorting and grouping may use before they spill to disk. */
const SPILL_SHARE = 0.7
const SPILL_BYTES_MIN = 32 * 2 ** 20

/**
 * Lowers the memory limit of a statement; raising it above that of the user would be refused. The more queries run, the earlier each spills
 * to disk, so that together they stay within the total limit; how much each may spill is limited too.
 */
function memorySettings({ readerLimits }: EventStore, { memoryBytes, spillBytes }: QueryBudget, running: number): Record<string, string> {
  const { queryBytes, allBytes } = readerLimits
  const ownBytes = Math.floor(queryBytes === 0 ? memoryBytes : Math.min(queryBytes, memoryBytes))
  const fairBytes = allBytes === 0 ? ownBytes : (allBytes * SPILL_SHARE) / Math.max(1, running)
  const spillFrom = String(Math.floor(Math.max(SPILL_BYTES_MIN, Math.min(ownBytes / 2, fairBytes))))
  return {
    max_memory_usage: String(ownBytes),
    max_temporary_data_on_disk_size_for_query: String(spillBytes),
    max_bytes_before_external_group_by: spillFrom,
    max_bytes_before_external_sort: spillFrom,
  }
}

/** Ensures that the statement ends. Closing the connection should end it as well, so errors of this command are ignored. */
async function kill({ writer }: EventStore, queryId: string): Promise<void> {
  const query = 'kill query where query_id = {queryId:String} async'
  await writer.command({ query, query_params: { queryId }, abort_signal: AbortSignal.timeout(KILL_BOUND_MS) }).catch(() => undefined)
}

/** Reports the progress of a statement that takes long. */
function reportProgress(store: EventStore, queryRun: QueryRun, queryId: string): { stop(): void } {
  const { onProgress } = queryRun
  if (!onProgress) return { stop: () => undefined }
  let isPending = false
  const ended = new AbortController()
  const timer = setInterval(async () => {
    if (isPending) return
    isPending = true
    const progress = await progressOf(store, queryId, ended.signal).catch(() => undefined)
    isPending = false
    if (!progress || ended.signal.aborted) return
    const [rows, bytes] = [queryRun.rows + progress.rows, queryRun.bytes + progress.bytes]
    onProgress(costOf({ ...queryRun, rows, bytes }, progress.share))
  }, PROGRESS_EVERY_MS)
  return {
    stop: () => {
      clearInterval(timer)
      ended.abort()
    },
  }
}

type Progress = { rows: number; bytes: number; share: number }

async function progressOf({ writer }: EventStore, queryId: string, signal: AbortSignal): Promise<Progress | undefined> {
  const answer = await writer.query({
    query: 'select read_rows, read_bytes, total_rows_approx from system.processes where query_id = {queryId:String}',
    query_params: { queryId },
    format: 'JSONEachRow',
    abort_signal: signal,
  })
  const [row] = await answer.json<{ read_rows: string; read_bytes: string; total_rows_approx: string }>()
  if (!row) return undefined
  const [rows, bytes, total] = [Number(row.read_rows), Number(row.read_bytes), Number(row.total_rows_approx)]
  return { rows, bytes, share: total === 0 ? 0 : Math.min(1, rows / total) }
}
