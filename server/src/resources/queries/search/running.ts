import type { QueryStatus, SearchResponse } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { StreamedJson } from '../../../http/json-stream.ts'
import { Answer } from '../../../http/mount.ts'
import type { SerializedJson } from '../../../http/serialized-json.ts'
import { gone, notFound } from '../../../kernel/errors.ts'
import { every } from '../../../kernel/every.ts'
import type { QueryCost } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, eventFiltersOf, visibilityFor } from '../../data/datasets/datasets.ts'
import { sliceTimeText } from '../../data/event-queries/event-queries.ts'
import { packed, unpacked } from './packed-answer.ts'
import { dropAnswers, endSearch, insertSearch, pollSearch, recordHeartbeat, removeSearches, type SearchRow, storePartial } from './rows.ts'

/** Runs a search until done or aborted, and reports progress and partial results. */
export type SearchWork = (control: {
  signal: AbortSignal
  onProgress: (cost: QueryCost) => void
  onPartial: (answer: SearchResponse) => void
}) => Promise<SearchResponse>

export type SearchReply = Answer<SerializedJson<SearchResponse> | StreamedJson<SearchResponse>>

/** Asynchronous searches: those running in this process, and the stored state of all. */
export type Searches = {
  /** Returns the result if it is ready quickly, otherwise the address to poll. */
  start(actor: Actor, datasets: SearchedDatasets, empty: SearchResponse, work: SearchWork): Promise<SearchReply>
  status(actor: Actor, id: string): Promise<SearchReply>
  cancel(actor: Actor, id: string): Promise<undefined>
  /** Removes results that can no longer be polled. */
  forget(): Promise<void>
  /** Aborts running searches and records it. */
  close(): Promise<void>
}

type SearchedDatasets = readonly Pick<DatasetRow, 'id' | 'collection' | 'dataset'>[]

export type SearchTimes = { quickMs: number; beatMs: number }
const TIMES: SearchTimes = { quickMs: 500, beatMs: 1_000 }
/** The longest polling interval suggested to clients. */
const RETRY_S = 5
/** A search ends when nobody has polled it for this long. */
const UNPOLLED_MS = 60_000
/** Without a heartbeat for this long, the process of a search counts as dead. */
const DEAD_MS = 15_000
const KEPT_MS = 3_600_000
const FORGOTTEN_MS = 7 * 24 * 3_600_000

type Running = { progress: number; bytes: number; ended: Promise<void>; stop: (status: QueryStatus) => void }

type SearchesWorld = Pick<World, 'meta' | 'clock' | 'ids' | 'log'>

/** The state is in PostgreSQL, so that every process can answer for it. */
export function openSearches({ meta, clock, ids, log }: SearchesWorld, { quickMs, beatMs }: SearchTimes = TIMES): Searches {
  const running = new Map<string, Running>()

  /** Runs a search to its end and stores the outcome. */
  function run(id: string, statusLink: Link, work: SearchWork): Running {
    const stopping = new AbortController()
    let stopped: QueryStatus | undefined
    const one: Running = {
      progress: 0,
      bytes: 0,
      ended: Promise.resolve(),
      stop: (status) => {
        stopped ??= status
        stopping.abort(new Error(`the search ends as ${status}`))
      },
    }
    const repetition = {
      clock,
      log,
      signal: stopping.signal,
      first: 'later',
      failed: 'a running search could not be marked alive',
      level: 'debug',
    } as const
    // A brief outage of the store does not end a search.
    const beating = every(beatMs, repetition, async () => {
      const nowMs = clock.nowMs()
      const row = await recordHeartbeat(meta, id, nowMs, one)
      if (row?.status !== 'IN_PROGRESS') one.stop(row?.status ?? 'CANCELLED_BY_USER')
      else if (nowMs - row.polled_at > UNPOLLED_MS) one.stop('TIMED_OUT')
    })
    const end = async (status: QueryStatus, answer?: SearchResponse) =>
      void (await endSearch(meta, id, { status, nowMs: clock.nowMs(), ...(answer ? { answer: await packed(answer) } : {}) }))
    const onPartial = (answer: SearchResponse) =>
      void packed(withoutCosts(answer))
        .then((bytes) => storePartial(meta, id, bytes))
        .catch((err) => log.debug({ err }, 'a partial result could not be stored'))
    const onProgress = ({ share, bytes }: QueryCost) => {
      one.bytes = Math.max(one.bytes, Math.round(bytes))
      one.progress = Math.max(one.progress, Math.min(99, Math.floor(share * 100)))
    }
    one.ended = work({ signal: stopping.signal, onProgress, onPartial })
      .then(
        (answer) => end(stopped ?? 'COMPLETED', stopped ? undefined : { ...answer, links: [...answer.links, statusLink] }),
        (err) => {
          if (!stopped) log.warn({ err, search_id: id }, 'an asynchronous search failed')
          return end(stopped ?? 'INTERNAL_SERVER_ERROR')
        },
      )
      .catch((err) => log.warn({ err, search_id: id }, 'the end of a search could not be stored'))
      .finally(() => {
        stopping.abort()
        running.delete(id)
        return beating
      })
    running.set(id, one)
    return one
  }

  /** Returns a search to its creator or an administrator, if they may see its datasets. Polling keeps it alive. */
  async function find(actor: Actor, id: string): Promise<SearchRow> {
    const nowMs = clock.nowMs()
    const row = await pollSearch(meta, actor.orgId, id, nowMs)
    const isSeen =
      row && mayPoll(actor, row) && (await visibilityFor({ meta }, actor)).seesThrough(row.log_ids ?? ['unknown'], row.event_filters)
    if (!isSeen) throw notFound('search', id)
    if (row.ended_at !== null && nowMs - row.ended_at > KEPT_MS) throw gone('the result of this search has expired; run the search again')
    const isDead = row.status === 'IN_PROGRESS' && !running.has(id) && nowMs - row.beat_at > DEAD_MS
    if (!isDead) return row
    await endSearch(meta, id, { status: 'INTERNAL_SERVER_ERROR', nowMs })
    return { ...row, status: 'INTERNAL_SERVER_ERROR', ended_at: nowMs }
  }

  async function replyOf(actor: Actor, row: SearchRow): Promise<SearchReply> {
    const isOver = row.status !== 'IN_PROGRESS'
    const state = {
      status: row.status,
      progress: isOver ? row.progress : Math.max(row.progress, running.get(row.id)?.progress ?? 0),
      start_time: sliceTimeText(row.started_at),
      // Only the final result has links and costs.
      ...(row.status === 'COMPLETED'
        ? {}
        : {
            links: isOver ? [] : [statusLinkOf(actor, row.id)],
            explain: {
              'Execution time (millis)': String(Math.max(0, (row.ended_at ?? clock.nowMs()) - row.started_at)),
              'Bytes searched': String(Math.max(row.read_bytes, running.get(row.id)?.bytes ?? 0)),
            },
          }),
    }
    const written = await unpacked(row.answer, state)
    return isOver ? new Answer(201, written) : new Answer(202, written, { 'retry-after': String(RETRY_S) })
  }

  return {
    start: async (actor, datasets, empty, work) => {
      const id = ids.uuid()
      const row = {
        id,
        org_id: actor.orgId,
        identity: actor.identity,
        status: 'IN_PROGRESS' as const,
        started_at: clock.nowMs(),
        log_ids: datasets.map(({ id }) => id),
        event_filters: await eventFiltersOf({ meta }, actor, datasets),
      }
      await insertSearch(meta, { ...row, answer: await packed(withoutCosts(empty)) })
      const waiting = new AbortController()
      await Promise.race([run(id, statusLinkOf(actor, id), work).ended, clock.sleep(quickMs, waiting.signal).catch(() => undefined)])
      waiting.abort()
      return replyOf(actor, await find(actor, id))
    },
    status: async (actor, id) => replyOf(actor, await find(actor, id)),
    cancel: async (actor, id) => {
      const row = await find(actor, id)
      if (row.status !== 'IN_PROGRESS') return undefined
      await endSearch(meta, id, { status: 'CANCELLED_BY_USER', nowMs: clock.nowMs() })
      running.get(id)?.stop('CANCELLED_BY_USER')
      return undefined
    },
    forget: async () => {
      await dropAnswers(meta, clock.nowMs() - KEPT_MS)
      await removeSearches(meta, clock.nowMs() - FORGOTTEN_MS)
    },
    close: async () => {
      for (const one of running.values()) one.stop('INTERNAL_SERVER_ERROR')
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
  }
}

type Link = SearchResponse['links'][number]

/** The address at which a search is polled; its last part is the id. A finished one is kept there for an hour. */
const statusLinkOf = ({ facts }: Actor, id: string): Link => ({ rel: 'status', href: `${facts.baseUrl}/search/status/${id}` })

const ADMINISTRATORS = ['Admin', 'AdminApi']

const mayPoll = ({ identity, roles }: Actor, row: SearchRow): boolean =>
  (identity.type === row.identity.type && identity.id === row.identity.id) || roles.some((role) => ADMINISTRATORS.includes(role))

/** Removes links and costs, which belong to the final result. */
const withoutCosts = ({ links: _, explain: __, ...part }: SearchResponse): Part => part

type Part = Omit<SearchResponse, 'links' | 'explain'>
