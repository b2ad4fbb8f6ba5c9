import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Readable } from 'node:stream'
import { ClickHouseError } from '@clickhouse/client'
import { isShardUnavailable, unavailableFailure } from '../events/store/away.ts'
import type { EventStore } from '../events/store/events.ts'
import { badRequest, Failure, unavailable } from '../kernel/errors.ts'
import { BinaryRows } from './binary-rows.ts'
import type { EventQuery, QueryCost } from './event-query.ts'
import { putsLinesTogether } from './raw-line.ts'
import { type AdmissionWait, noAdmissionWait, runAdmitted } from './run-admitted.ts'
import { bindStatement, type SqlFragment } from './statement.ts'
import { encodeStatement } from './statement-body.ts'

/** The progress of a query: what its statements have cost so far, and what they may still cost. */
export type QueryRun = Pick<EventQuery, 'orgNumber' | 'budget' | 'signal' | 'onProgress' | 'gaps' | 'ticket'> & {
  /** Excludes the time that the query waited for admission. */
  startedMs: number
  readonly pause: AdmissionWait
  rows: number
  bytes: number
}

export const startQueryRun = ({ orgNumber, budget, signal, onProgress, gaps, ticket }: EventQuery): QueryRun => ({
  orgNumber,
  budget,
  signal,
  ...(onProgress ? { onProgress } : {}),
  ...(gaps ? { gaps } : {}),
  ...(ticket ? { ticket } : {}),
  startedMs: performance.now(),
  pause: noAdmissionWait(),
  rows: 0,
  bytes: 0,
})

export const costOf = ({ rows, bytes, startedMs }: QueryRun, share: number): QueryCost => ({
  rows,
  bytes,
  elapsedMs: performance.now() - startedMs,
  share,
})

/** A result is held in memory completely. */
const RESULT_BYTES_MAX = 256 * 2 ** 20
const PROGRESS_EVERY_MS = 500
/** The longest statement. The store takes seconds to prepare one of this size, whatever it reads. */
const TEXT_BYTES_MAX = 2 * 2 ** 20
const TREE_NODES_MAX = 5_000_000
/** The block size of statements that rebuild lines. */
const REBUILT_LINES_PER_BLOCK = 4_096
const PARSER_STEPS_MAX = 1_000_000_000
const CORES = availableParallelism()

/** The group keys of a statement and the maximum number of groups. */
export type GroupLimit = { readonly groupsMax: number; readonly groups: readonly string[] }

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
  sampleRows?: number,
): Promise<BinaryRows> {
  const { gaps, signal } = queryRun
  try {
    signal.throwIfAborted()
    return await runAdmitted(store, queryRun, CORES, async (share, running) => {
      const options = { ...(groupLimit ? { grouping: groupLimit } : {}), sampleRows, share, running }
      if (gaps && !gaps.found) {
        try {
          return await send(store, queryRun, statement, options)
        } catch (thrown) {
          if (!isShardUnavailable(thrown)) throw thrown
          gaps.found = true
        }
      }
      return send(store, queryRun, statement, options)
    })
  } catch (cause) {
    throw isTimeout(signal.reason) ? unavailable('the event store did not answer in time', { cause }) : cause
  }
}

/** Whether the signal aborted by timeout, not because the caller disconnected. */
const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

type SendOptions = { grouping?: GroupLimit; sampleRows: number | undefined; share: Record<string, string>; running: number }

async function send(
  store: EventStore,
  queryRun: QueryRun,
  statement: SqlFragment,
  { grouping: groupLimit, sampleRows, share, running }: SendOptions,
): Promise<BinaryRows> {
  const { budget, signal } = queryRun
  const secondsLeft = budget.seconds - (performance.now() - queryRun.startedMs) / 1_000
  if (secondsLeft <= 0) throw tooExpensive(`more than ${budget.seconds} s`)
  const { text, ...bound } = bindStatement(statement)
  if (text.length > TEXT_BYTES_MAX) throw tooLong(text.length)
  const { body, contentType } = encodeStatement({ text, ...bound }, 'RowBinary')
  const queryId = randomUUID()
  const progressReport = reportProgress(store, queryRun, queryId)
  try {
    const { stream, summary } = await store.reader.exec({
      // The statement is sent in the body, because the length of a URL is limited.
      query: '',
      values: Readable.from([body], { objectMode: false }),
      http_headers: { 'content-type': contentType },
      query_id: queryId,
      abort_signal: signal,
      clickhouse_settings: {
        log_comment: String(queryRun.orgNumber),
        // Wait for the complete result, so that a late error is an error and not a partial result.
        wait_end_of_query: 1,
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
        ...(putsLinesTogether(text) ? { max_block_size: String(REBUILT_LINES_PER_BLOCK) } : {}),
        ...(groupLimit ? { max_rows_to_group_by: String(groupLimit.groupsMax), group_by_overflow_mode: 'throw' as const } : {}),
        ...(queryRun.gaps?.found ? { skip_unavailable_shards: 1 as const } : {}),
        ...(await memorySettings(store, budget.memoryBytes, running)),
      },
    })
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    queryRun.rows += Number(summary?.read_rows ?? 0)
    queryRun.bytes += Number(summary?.read_bytes ?? 0)
    return new BinaryRows(Buffer.concat(chunks))
  } catch (cause) {
    if (signal.aborted) await kill(store, queryId)
    signal.throwIfAborted()
    throw failureOf(cause, queryRun, groupLimit)
  } finally {
    progressReport.stop()
  }
}

type MemoryLimits = { readonly oneBytes: number; readonly allBytes: number }

const memoryLimits = new WeakMap<object, Promise<MemoryLimits>>()

/** The share of the memory of all queries that sorting and grouping may use before they spill to disk. */
const SPILL_SHARE = 0.7
const SPILL_BYTES_MIN = 32 * 2 ** 20

/**
 * Lowers the memory limit of a statement; raising it above that of the user would be refused. The more queries run, the earlier each spills
 * to disk, so that together they stay within the total limit.
 */
async function memorySettings({ reader }: EventStore, wantedBytes: number, running: number): Promise<Record<string, string>> {
  const known = memoryLimits.get(reader) ?? readMemoryLimits(reader)
  memoryLimits.set(reader, known)
  known.catch(() => memoryLimits.delete(reader))
  const { oneBytes, allBytes } = await known
  const ownBytes = Math.floor(oneBytes === 0 ? wantedBytes : Math.min(oneBytes, wantedBytes))
  const spillBytes = String(Math.floor(Math.max(SPILL_BYTES_MIN, Math.min(ownBytes / 2, (allBytes * SPILL_SHARE) / Math.max(1, running)))))
  return {
    max_memory_usage: String(ownBytes),
    ...(allBytes === 0 ? {} : { max_bytes_before_external_group_by: spillBytes, max_bytes_before_external_sort: spillBytes }),
  }
}

async function readMemoryLimits(reader: EventStore['reader']): Promise<MemoryLimits> {
  const answer = await reader.query({
    query: "select toFloat64(getSetting('max_memory_usage')) as one, toFloat64(getSetting('max_memory_usage_for_user')) as every",
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ one: number; every: number }>()
  return { oneBytes: row?.one ?? 0, allBytes: row?.every ?? 0 }
}

/** Ensures that the statement ends. Closing the connection should end it as well. */
async function kill({ writer }: EventStore, queryId: string): Promise<void> {
  await writer.command({ query: 'kill query where query_id = {queryId:String} async', query_params: { queryId } }).catch(() => undefined)
}

const TIMEOUT = '159'
const TOO_MANY_ROWS = '158'
const TOO_MANY_BYTES = '307'
const RESULT_TOO_LARGE = '396'
const MEMORY_LIMIT_EXCEEDED = '241'
/** The message when a query exceeded its own limit, as opposed to the total limit. */
const QUERY_MEMORY_MESSAGE = 'Query memory limit exceeded'
/** The message when the store ended the query with the most memory, because the total limit was exceeded. */
const SELECTED_TO_STOP_MESSAGE = 'Query was selected to stop'
const TOO_MANY_QUERIES = '202'

/** Distinguishes a query that is too expensive from a store in trouble. Messages of the store go to the log only. */
function failureOf(cause: unknown, { budget }: QueryRun, groupLimit: GroupLimit | undefined): unknown {
  const away = unavailableFailure(cause)
  if (away || !(cause instanceof ClickHouseError)) return away ?? cause
  switch (cause.code) {
    case TIMEOUT:
      return tooExpensive(`more than ${budget.seconds} s`, cause)
    case TOO_MANY_ROWS:
      if (groupLimit && cause.message.includes('GROUP BY')) return tooManyGroups(groupLimit, cause)
      return tooExpensive(`more than ${budget.rows} events`, cause)
    case TOO_MANY_BYTES:
      return tooExpensive(`more than ${budget.bytes} bytes`, cause)
    case RESULT_TOO_LARGE:
      return badRequest('the result is too large; request fewer events or keys', { cause })
    case MEMORY_LIMIT_EXCEEDED:
      if (cause.message.includes(QUERY_MEMORY_MESSAGE)) return tooExpensive('more data than the memory limit of one query allows', cause)
      if (cause.message.includes(SELECTED_TO_STOP_MESSAGE)) return tooLarge(cause)
      return unavailable('the event store is out of memory for queries; try again later', {
        cause,
      })
    case TOO_MANY_QUERIES:
      return unavailable('the event store has too many queries running; try again later', { cause })
    default:
      return new Error('a statement failed in the event store', { cause })
  }
}

function tooLong(length: number): Failure {
  const message = `the conditions are ${(length / TEXT_BYTES_MAX).toFixed(1)} times as long as one query may have; use fewer, or put values into one IN (…)`
  return badRequest(message, { errors: [{ field: 'where', code: 'TOO_MANY_CONDITIONS', message }] })
}

const tooExpensive = (what: string, cause?: unknown): Failure =>
  badRequest(
    `this query would read ${what}; narrow the time range, name fewer datasets, group by fewer values, or add a condition on a rare value`,
    { cause },
  )

const tooLarge = (cause: unknown): Failure =>
  new Failure(429, 'the event store ran out of memory and ended this query, which used the most; narrow it, or try again later', {
    cause,
    headers: { 'retry-after': '5' },
  })

function tooManyGroups({ groups, groupsMax }: GroupLimit, cause: unknown): Failure {
  const message = `${groups.map((key) => `"${key.slice(0, 100)}"`).join(' and ')} have more than ${groupsMax} different values; group by a key with fewer values, or narrow the time range`
  return badRequest(message, { cause, errors: [{ field: 'groups', code: 'TOO_MANY_GROUPS', message }] })
}

/** Reports the progress of a statement that takes long. */
function reportProgress(store: EventStore, queryRun: QueryRun, queryId: string): { stop(): void } {
  const { onProgress } = queryRun
  if (!onProgress) return { stop: () => undefined }
  let isPending = false
  const timer = setInterval(async () => {
    if (isPending) return
    isPending = true
    const seen = await progressOf(store, queryId).catch(() => undefined)
    isPending = false
    if (!seen || !timer.hasRef()) return
    onProgress({ ...costOf(queryRun, seen.share), rows: queryRun.rows + seen.rows, bytes: queryRun.bytes + seen.bytes })
  }, PROGRESS_EVERY_MS)
  return {
    stop: () => {
      timer.unref()
      clearInterval(timer)
    },
  }
}

type Progress = { rows: number; bytes: number; share: number }

async function progressOf({ writer }: EventStore, queryId: string): Promise<Progress | undefined> {
  const answer = await writer.query({
    query: 'select read_rows, read_bytes, total_rows_approx from system.processes where query_id = {queryId:String}',
    query_params: { queryId },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ read_rows: string; read_bytes: string; total_rows_approx: string }>()
  if (!row) return undefined
  const [rows, bytes, total] = [Number(row.read_rows), Number(row.read_bytes), Number(row.total_rows_approx)]
  return { rows, bytes, share: total === 0 ? 0 : Math.min(1, rows / total) }
}
