import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Readable } from 'node:stream'
import { ClickHouseError } from '@clickhouse/client'
import { awayFailure, isPartAway } from '../events/store/away.ts'
import type { EventStore } from '../events/store/events.ts'
import { badRequest, Failure, unavailable } from '../kernel/errors.ts'
import { BinaryRows } from './binary-rows.ts'
import type { Cost, Question } from './question.ts'
import { putsLinesTogether } from './raw-line.ts'
import { requestOf } from './request.ts'
import { type Sql, statement } from './statement.ts'
import { inTurn, noPause, type Pause } from './turn.ts'

/** An Asking is how far a question is: what its statements have cost so far, and what they may still cost. */
export type Asking = Pick<Question, 'orgNumber' | 'budget' | 'signal' | 'onProgress' | 'gaps' | 'ticket'> & {
  /** startedMs leaves out the time that the query has waited for others. */
  startedMs: number
  readonly pause: Pause
  rows: number
  bytes: number
}

export const startAsking = ({ orgNumber, budget, signal, onProgress, gaps, ticket }: Question): Asking => ({
  orgNumber,
  budget,
  signal,
  ...(onProgress ? { onProgress } : {}),
  ...(gaps ? { gaps } : {}),
  ...(ticket ? { ticket } : {}),
  startedMs: performance.now(),
  pause: noPause(),
  rows: 0,
  bytes: 0,
})

export const costOf = ({ rows, bytes, startedMs }: Asking, share: number): Cost => ({
  rows,
  bytes,
  elapsedMs: performance.now() - startedMs,
  share,
})

/** RESULT_BYTES_MAX bounds an answer, which is held in memory whole. */
const RESULT_BYTES_MAX = 256 * 2 ** 20
const PROGRESS_EVERY_MS = 500
/** TEXT_BYTES_MAX is the longest statement: the store takes seconds to prepare one, whatever there is to read. */
const TEXT_BYTES_MAX = 2 * 2 ** 20
const TREE_NODES_MAX = 5_000_000
/** LINES_AT_ONCE is how many lines the store puts together at a time. */
const LINES_AT_ONCE = 4_096
const PARSER_STEPS_MAX = 1_000_000_000
const CORES = availableParallelism()

/** A Grouping bounds the groups of a statement and names the keys by which it groups. */
export type Grouping = { readonly groupsMax: number; readonly groups: readonly string[] }

/**
 * run sends one statement as the organisation and gives back its rows; it counts what they cost. Who leaves ends the statement in the store too.
 * With `sampleRows` the statement reads about so many rows and is content with what it has then. Where gaps are allowed, a part of the store that is
 * away is left out.
 */
export async function run(store: EventStore, asking: Asking, whole: Sql, grouping?: Grouping, sampleRows?: number): Promise<BinaryRows> {
  const { gaps, signal } = asking
  try {
    signal.throwIfAborted()
    return await inTurn(store, asking, CORES, async (share, running) => {
      const sending = { ...(grouping ? { grouping } : {}), sampleRows, share, running }
      if (gaps && !gaps.found) {
        try {
          return await send(store, asking, whole, sending)
        } catch (thrown) {
          if (!isPartAway(thrown)) throw thrown
          gaps.found = true
        }
      }
      return send(store, asking, whole, sending)
    })
  } catch (cause) {
    throw isTimeout(signal.reason) ? unavailable('the event store did not answer in time', { cause }) : cause
  }
}

/** isTimeout is true of a signal that ended by itself, and not because the caller left. */
const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

type Sending = { grouping?: Grouping; sampleRows: number | undefined; share: Record<string, string>; running: number }

async function send(store: EventStore, asking: Asking, whole: Sql, { grouping, sampleRows, share, running }: Sending): Promise<BinaryRows> {
  const { budget, signal } = asking
  const secondsLeft = budget.seconds - (performance.now() - asking.startedMs) / 1_000
  if (secondsLeft <= 0) throw tooExpensive(`more than ${budget.seconds} s`)
  const { text, ...beside } = statement(whole)
  if (text.length > TEXT_BYTES_MAX) throw tooLong(text.length)
  const { body, contentType } = requestOf({ text, ...beside }, 'RowBinary')
  const queryId = randomUUID()
  const watching = watch(store, asking, queryId)
  try {
    const { stream, summary } = await store.reader.exec({
      // The statement lies in the body with all else: what stands in the address is bounded.
      query: '',
      values: Readable.from([body], { objectMode: false }),
      http_headers: { 'content-type': contentType },
      query_id: queryId,
      abort_signal: signal,
      clickhouse_settings: {
        log_comment: String(asking.orgNumber),
        // The whole answer is waited for, so that what goes wrong late is a failure and not half an answer.
        wait_end_of_query: 1,
        precise_float_parsing: 1,
        max_execution_time: Math.max(secondsLeft, 0.001),
        timeout_overflow_mode: 'throw',
        max_bytes_to_read: String(Math.max(1, Math.floor(budget.bytes - asking.bytes))),
        max_rows_to_read: String(Math.max(1, sampleRows ?? Math.floor(budget.rows - asking.rows))),
        read_overflow_mode: sampleRows === undefined ? 'throw' : 'break',
        max_result_bytes: String(RESULT_BYTES_MAX),
        result_overflow_mode: 'throw',
        ...share,
        max_query_size: String(TEXT_BYTES_MAX),
        max_ast_elements: String(TREE_NODES_MAX),
        max_expanded_ast_elements: String(TREE_NODES_MAX),
        max_parser_backtracks: String(PARSER_STEPS_MAX),
        ...(putsLinesTogether(text) ? { max_block_size: String(LINES_AT_ONCE) } : {}),
        ...(grouping ? { max_rows_to_group_by: String(grouping.groupsMax), group_by_overflow_mode: 'throw' as const } : {}),
        ...(asking.gaps?.found ? { skip_unavailable_shards: 1 as const } : {}),
        ...(await memorySettings(store, budget.memoryBytes, running)),
      },
    })
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    asking.rows += Number(summary?.read_rows ?? 0)
    asking.bytes += Number(summary?.read_bytes ?? 0)
    return new BinaryRows(Buffer.concat(chunks))
  } catch (cause) {
    if (signal.aborted) await kill(store, queryId)
    signal.throwIfAborted()
    throw failureOf(cause, asking, grouping)
  } finally {
    watching.stop()
  }
}

type Ceilings = { readonly oneBytes: number; readonly allBytes: number }

const ceilings = new WeakMap<object, Promise<Ceilings>>()

/** SPILL_SHARE is how much of the memory of all queries those that sort or group take before they go on on disk. */
const SPILL_SHARE = 0.7
const SPILL_BYTES_MIN = 32 * 2 ** 20

/**
 * memorySettings lower what a statement may take below what the store lets a reader have anyway; asking for more would be refused. The more queries
 * run, the earlier each goes on on disk, so that together they stay within what all may have.
 */
async function memorySettings({ reader }: EventStore, wantedBytes: number, running: number): Promise<Record<string, string>> {
  const known = ceilings.get(reader) ?? readCeilings(reader)
  ceilings.set(reader, known)
  known.catch(() => ceilings.delete(reader))
  const { oneBytes, allBytes } = await known
  const ownBytes = Math.floor(oneBytes === 0 ? wantedBytes : Math.min(oneBytes, wantedBytes))
  const spillBytes = String(Math.floor(Math.max(SPILL_BYTES_MIN, Math.min(ownBytes / 2, (allBytes * SPILL_SHARE) / Math.max(1, running)))))
  return {
    max_memory_usage: String(ownBytes),
    ...(allBytes === 0 ? {} : { max_bytes_before_external_group_by: spillBytes, max_bytes_before_external_sort: spillBytes }),
  }
}

async function readCeilings(reader: EventStore['reader']): Promise<Ceilings> {
  const answer = await reader.query({
    query: "select toFloat64(getSetting('max_memory_usage')) as one, toFloat64(getSetting('max_memory_usage_for_user')) as every",
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ one: number; every: number }>()
  return { oneBytes: row?.one ?? 0, allBytes: row?.every ?? 0 }
}

/** kill makes sure of what leaving the connection should do anyway. */
async function kill({ writer }: EventStore, queryId: string): Promise<void> {
  await writer.command({ query: 'kill query where query_id = {queryId:String} async', query_params: { queryId } }).catch(() => undefined)
}

const TIMEOUT = '159'
const ROWS_OVER = '158'
const BYTES_OVER = '307'
const RESULT_OVER = '396'
const MEMORY_OVER = '241'
/** OWN_MEMORY is how the store says that a question went over its own bound, and not all of them together over that of the store. */
const OWN_MEMORY = 'Query memory limit exceeded'
/** LARGEST is how it says that it ended the query that took the most, since all of them together went over theirs. */
const LARGEST = 'Query was selected to stop'
const TOO_MANY_QUERIES = '202'

/** failureOf tells a question that asks for too much from a store in trouble; the store's own words are for our log only. */
function failureOf(cause: unknown, { budget }: Asking, grouping: Grouping | undefined): unknown {
  const away = awayFailure(cause)
  if (away || !(cause instanceof ClickHouseError)) return away ?? cause
  switch (cause.code) {
    case TIMEOUT:
      return tooExpensive(`more than ${budget.seconds} s`, cause)
    case ROWS_OVER:
      if (grouping && cause.message.includes('GROUP BY')) return tooManyGroups(grouping, cause)
      return tooExpensive(`more than ${budget.rows} events`, cause)
    case BYTES_OVER:
      return tooExpensive(`more than ${budget.bytes} bytes`, cause)
    case RESULT_OVER:
      return badRequest('the answer would be too large; ask for fewer events or keys', { cause })
    case MEMORY_OVER:
      if (cause.message.includes(OWN_MEMORY)) return tooExpensive('more than fits into the memory that one question may have', cause)
      if (cause.message.includes(LARGEST)) return tooLarge(cause)
      return unavailable('the event store has not enough memory for all that is asked; ask again in a while', {
        cause,
      })
    case TOO_MANY_QUERIES:
      return unavailable('the event store has too much to do', { cause })
    default:
      return new Error('a statement failed in the event store', { cause })
  }
}

function tooLong(length: number): Failure {
  const message = `the conditions are ${(length / TEXT_BYTES_MAX).toFixed(1)} times as much as one question may have; use fewer, or put values into one IN (…)`
  return badRequest(message, { errors: [{ field: 'where', code: 'TOO_MANY_CONDITIONS', message }] })
}

const tooExpensive = (what: string, cause?: unknown): Failure =>
  badRequest(
    `this question would read ${what}; narrow the time range, name fewer datasets, group by fewer values, or add a condition on a rare value`,
    { cause },
  )

const tooLarge = (cause: unknown): Failure =>
  new Failure(429, 'of the queries that run now this one takes the most memory, and there is no more; narrow it, or ask again in a while', {
    cause,
    headers: { 'retry-after': '5' },
  })

function tooManyGroups({ groups, groupsMax }: Grouping, cause: unknown): Failure {
  const message = `${groups.map((key) => `"${key.slice(0, 100)}"`).join(' and ')} have more than ${groupsMax} different values; group by something rarer, or narrow the time range`
  return badRequest(message, { cause, errors: [{ field: 'groups', code: 'TOO_MANY_GROUPS', message }] })
}

/** watch reports how far a statement is, beginning with one that takes long. */
function watch(store: EventStore, asking: Asking, queryId: string): { stop(): void } {
  const { onProgress } = asking
  if (!onProgress) return { stop: () => undefined }
  let asked = false
  const timer = setInterval(async () => {
    if (asked) return
    asked = true
    const seen = await progressOf(store, queryId).catch(() => undefined)
    asked = false
    if (!seen || !timer.hasRef()) return
    onProgress({ ...costOf(asking, seen.share), rows: asking.rows + seen.rows, bytes: asking.bytes + seen.bytes })
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
