import { randomUUID } from 'node:crypto'
import { Failure } from '../../kernel/errors.ts'
import { every } from '../../kernel/every.ts'
import { DeliveryError } from '../../outgoing/outgoing.ts'
import {
  type ActiveSource,
  holdSource,
  noteSourceFailure,
  OriginError,
  releaseAllSources,
  releaseSources,
  selectActiveSources,
} from '../../resources/data/sources/sources.ts'
import { BucketReader } from './bucket.ts'
import { PositionMoved } from './content-batches.ts'
import { DirectoryReader } from './directory.ts'
import type { SourceWorld } from './post.ts'
import { TopicReader } from './topic.ts'

export type SourceReading = { close(): Promise<void> }

/** Reads one source, step by step. */
type SourceReader = { step(signal: AbortSignal): Promise<{ againInMs: number }>; close?(): Promise<void> }

const FIND_EVERY_MS = 1_000
const LEASE_MS = 30_000
/** How many sources a process reads at once, and how many of one organization. */
const AT_ONCE = 4
const AT_ONCE_OF_ONE = 2
const RETRY_MIN_MS = 1_000
const RETRY_MAX_MS = 60_000
const STOP_MS = 5_000
const ERROR_CHARACTERS_MAX = 500

type KnownSource = {
  source: ActiveSource
  reader: SourceReader
  dueMs: number
  failures: number
  /** When the lease was renewed. */
  heldMs: number
  running: Promise<void> | undefined
}

/**
 * Reads the sources of all organizations. Every process with the role `ingest` does so; a lease keeps two of them from reading the same one. What a
 * process of which the lease has ended still does is harmless: positions advance only from where they are.
 */
export function startSources(world: SourceWorld): SourceReading {
  const { meta, clock, log } = world
  const holder = randomUUID()
  const stopping = new AbortController()
  const known = new Map<string, KnownSource>()

  let isFirst = true

  async function findDue(): Promise<void> {
    // The lock on the data directory keeps other processes from an embedded store.
    if (isFirst && meta.server) await releaseAllSources(meta)
    isFirst = false
    const active = await selectActiveSources(meta)
    const ids = new Set(active.map(({ id }) => id))
    for (const [id, { running, reader }] of known) {
      if (ids.has(id) || running) continue
      known.delete(id)
      await reader.close?.()
    }
    for (const source of active) {
      const one = known.get(source.id)
      if (one?.source.modified_at === source.modified_at && one.source.log_id === source.log_id) continue
      if (one?.running) continue
      await one?.reader.close?.()
      known.set(source.id, {
        source,
        reader: readerOf(world, source),
        dueMs: clock.monotonicMs(),
        failures: 0,
        heldMs: Number.NEGATIVE_INFINITY,
        running: undefined,
      })
    }
    // A source may wait, or read one part, for longer than its lease.
    for (const one of known.values()) if (Number.isFinite(one.heldMs)) await hold(one)
    startDue(ids)
  }

  /** Starts those that have been due longest. Organizations share the places. */
  function startDue(ids: ReadonlySet<string>): void {
    const nowMs = clock.monotonicMs()
    const due = [...known.values()]
      .filter(({ source, running, dueMs }) => ids.has(source.id) && !running && dueMs <= nowMs)
      .sort((a, b) => a.dueMs - b.dueMs)
    for (const one of due) {
      const running = [...known.values()].filter(({ running: busy }) => busy)
      if (running.length >= AT_ONCE || stopping.signal.aborted) return
      if (running.filter(({ source }) => source.org_id === one.source.org_id).length >= AT_ONCE_OF_ONE) continue
      one.running = step(one).finally(() => {
        one.running = undefined
      })
    }
  }

  /** Keeps the lease of a source; false while another process has it. */
  async function hold(one: KnownSource): Promise<boolean> {
    const nowMs = clock.monotonicMs()
    if (nowMs - one.heldMs < LEASE_MS / 6) return true
    const isHeld = (await holdSource(meta, one.source.id, holder, LEASE_MS)) > 0
    one.heldMs = isHeld || isShared(one.source) ? nowMs : Number.NEGATIVE_INFINITY
    return isHeld || isShared(one.source)
  }

  async function step(one: KnownSource): Promise<void> {
    const { source, reader } = one
    try {
      if (!(await hold(one))) {
        one.reader = readerOf(world, source)
        one.dueMs = clock.monotonicMs() + LEASE_MS / 6
        return
      }
      const { againInMs } = await reader.step(stopping.signal)
      one.failures = 0
      one.dueMs = clock.monotonicMs() + againInMs
    } catch (thrown) {
      if (stopping.signal.aborted) return
      await reader.close?.()
      one.reader = readerOf(world, source)
      one.dueMs = clock.monotonicMs()
      if (thrown instanceof PositionMoved) return
      one.dueMs += Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** one.failures)
      one.failures += 1
      await recordFailure(source, thrown)
    }
  }

  async function recordFailure({ id }: ActiveSource, thrown: unknown): Promise<void> {
    const isExpected = thrown instanceof OriginError || thrown instanceof DeliveryError || thrown instanceof Failure
    log[isExpected ? 'debug' : 'warn']({ err: thrown, source_id: id }, 'a source could not be read')
    const failure = (isExpected ? thrown.message : 'the service itself failed; its log says why').slice(0, ERROR_CHARACTERS_MAX)
    await noteSourceFailure(meta, id, { failure, nowMs: clock.nowMs() }).catch(() => undefined)
  }

  const finding = every(FIND_EVERY_MS, { clock, log, signal: stopping.signal, first: 'now', failed: 'sources could not be found' }, findDue)
  return {
    close: async () => {
      stopping.abort()
      await finding
      const given = new AbortController()
      const ended = Promise.all([...known.values()].map(({ running }) => running)).finally(() => given.abort())
      await Promise.race([ended, clock.sleep(STOP_MS, given.signal).catch(() => undefined)])
      await Promise.all([...known.values()].map(({ reader }) => reader.close?.()))
      await releaseSources(meta, holder).catch(() => undefined)
    },
  }
}

function readerOf(world: SourceWorld, { origin, ...source }: ActiveSource): SourceReader {
  if (origin.kind === 'S3') return new BucketReader(world, { ...source, origin })
  return origin.kind === 'KAFKA' ? new TopicReader(world, { ...source, origin }) : new DirectoryReader(world, { ...source, origin })
}

/** A consumer group shares the partitions of a topic among the processes. */
const isShared = ({ origin }: ActiveSource): boolean => origin.kind === 'KAFKA'
