import type { Actor } from '../../../http/actor.ts'
import { Failure, unavailable } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { allLimits, limitValue } from './caps.ts'
import { type Month, monthOf } from './month.ts'
import { OrgCount } from './org-count.ts'
import type { LimitRow } from './rows.ts'
import { insertCrossing, selectCrossings, selectTeams } from './rows.ts'

type MeterWorld = Pick<World, 'clock' | 'events' | 'ledger' | 'log' | 'meta'>
type Sender = Pick<Actor, 'orgId' | 'orgNumber'>
type DatasetBytes = { logId: string; bytes: number }

/** Bytes that may be stored; each share is released when the ledger has counted it. */
export type IngestReservation = { release(logId: string): void }

/** A limit and its datasets; undefined means all. */
type AppliedLimit = { limit: LimitRow; logIds: ReadonlySet<string> | undefined }

const NO_RESERVATION: IngestReservation = { release: () => undefined }
const RETRY_AFTER_MAX_S = 3_600

/** Keeps ingestion below the limits of each organization, together with the other processes. */
export class LimitMeter {
  readonly #world: MeterWorld
  readonly #counts = new Map<string, OrgCount>()

  constructor(world: MeterWorld) {
    this.#world = world
  }

  /** Rejects data for the named datasets once one of their limits is crossed; without names, data that would be rejected for any dataset. */
  async checkOpen(sender: Sender, logIds: readonly string[]): Promise<void> {
    const month = monthOf(this.#world.clock.nowMs())
    for (const { limit, logIds: covered } of await this.#caps(sender)) {
      if (covered && !logIds.some((id) => covered.has(id))) continue
      const crossedAt = await this.#crossedAt(limit, month)
      if (crossedAt !== undefined) throw this.#closed(limit, month, crossedWhen(crossedAt))
    }
  }

  /** Admits a request if it stays below every limit; otherwise rejects all of it and marks the limit as crossed. */
  async admit(sender: Sender, shares: readonly DatasetBytes[]): Promise<IngestReservation> {
    const caps = await this.#caps(sender)
    if (caps.length === 0) return NO_RESERVATION
    const month = monthOf(this.#world.clock.nowMs())
    const count = await this.#countOf(sender, month)
    for (const { limit, logIds } of caps) {
      const bytes = shares.reduce((sum, share) => sum + (!logIds || logIds.has(share.logId) ? share.bytes : 0), 0)
      if (bytes === 0) continue
      const crossedAt = count.crossed.get(stateOf(limit))
      if (crossedAt !== undefined) throw this.#closed(limit, month, crossedWhen(crossedAt))
      const used = count.used(logIds)
      if (used + bytes <= limitValue(limit)) continue
      count.crossed.set(stateOf(limit), this.#world.clock.nowMs())
      await this.#cross(limit, month)
      throw this.#closed(limit, month, `${used} bytes are used, and this post has ${bytes} more`)
    }
    const left = new Map<string, number>()
    for (const { logId, bytes } of shares) {
      left.set(logId, (left.get(logId) ?? 0) + bytes)
      count.reserve(logId, bytes)
    }
    return {
      release: (logId) => {
        count.release(logId, left.get(logId) ?? 0)
        left.delete(logId)
      },
    }
  }

  /** The usage of a limit in the month, and whether the limit was crossed. */
  async used(sender: Sender, limit: LimitRow, month: Month): Promise<{ used: number; crossedAt: number | undefined }> {
    const cap = (await this.#caps(sender)).find((one) => one.limit.id === limit.id)
    const count = await this.#countOf(sender, month)
    return { used: count.used(cap?.logIds), crossedAt: await this.#crossedAt(limit, month) }
  }

  async #caps({ orgId }: Sender): Promise<readonly AppliedLimit[]> {
    const limits = await allLimits(this.#world, orgId)
    if (limits.length === 0) return []
    const teams = await this.#world.meta.cached(orgId, 'logs-of-teams', async () =>
      Map.groupBy(await selectTeams(this.#world.meta, orgId), ({ team }) => team),
    )
    return limits.map((limit) => ({
      limit,
      logIds: limit.team === '' ? undefined : new Set((teams.get(limit.team) ?? []).map(({ id }) => id)),
    }))
  }

  async #crossedAt(limit: LimitRow, { startMs }: Month): Promise<number | undefined> {
    const { meta } = this.#world
    const count = this.#counts.get(limit.org_id)
    const own = count?.windowStartMs === startMs ? count.crossed.get(stateOf(limit)) : undefined
    if (own !== undefined) return own
    const all = await meta.cached(limit.org_id, 'limit-crossings', () => selectCrossings(meta, limit.org_id))
    return all.find((crossing) => crossing.limit_id === limit.id && crossing.window_start_ms === startMs)?.crossed_at
  }

  /** Announces the crossing to all processes; a process that misses it reaches the limit by its own count. */
  async #cross(limit: LimitRow, { startMs }: Month): Promise<void> {
    const { clock, log, meta } = this.#world
    const crossing = { limit_id: limit.id, window_start_ms: startMs, crossed_at: clock.nowMs() }
    try {
      const isNew = (await meta.write(limit.org_id, (tx) => insertCrossing(tx, limit.org_id, crossing, limit.modified_at))) > 0
      if (isNew) log.warn({ org_id: limit.org_id, limit_id: limit.id }, 'a limit is reached; further data is rejected')
    } catch (err) {
      log.warn({ err, org_id: limit.org_id, limit_id: limit.id }, 'a reached limit could not be stored')
    }
  }

  #closed(limit: LimitRow, month: Month, why: string): Failure {
    const secondsLeft = Math.ceil((month.endMs - this.#world.clock.nowMs()) / 1_000)
    const whose = limit.team === '' ? 'of the organization' : `of the team ${limit.team}`
    const until = new Date(month.endMs).toISOString()
    return new Failure(
      429,
      `the limit ${whose} of ${limit.value} bytes a month does not let this in: ${why}; it opens again at ${until}, or when it is changed`,
      {
        headers: { 'retry-after': String(Math.max(1, Math.min(RETRY_AFTER_MAX_S, secondsLeft))) },
        errors: [{ field: 'limit', code: 'INGESTION_LIMIT', message: `limit ${limit.id} is crossed` }],
      },
    )
  }

  /** The counter of the month; drops that of an earlier month. */
  async #countOf({ orgId, orgNumber }: Sender, month: Month): Promise<OrgCount> {
    let count = this.#counts.get(orgId)
    if (count?.windowStartMs !== month.startMs) {
      count = new OrgCount(this.#world, orgNumber, month.startMs)
      this.#counts.set(orgId, count)
    }
    await count.fresh().catch((cause) => {
      throw unavailable('the usage of a limit is unknown', { cause })
    })
    return count
  }
}

const crossedWhen = (crossedAt: number): string => `it was crossed at ${new Date(crossedAt).toISOString()}`

/** Identifies a version of a limit: a changed limit is another one. */
const stateOf = ({ id, modified_at }: LimitRow): string => `${id} ${modified_at}`
