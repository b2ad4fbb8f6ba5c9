import type pg from 'pg'
import type { Clock } from '../kernel/clock.ts'

/** A request for receipts, sent with the commit of a change. */
export type ReceiptRequest = {
  /** Extends the statement that selects `changed`, which runs before the commit. Call `receivedBy` afterwards, whatever happened. */
  statement(changed: string): string
  /** Resolves when these followers have received the change, or after a bounded time. */
  receivedBy(followers: readonly number[]): Promise<void>
}

/** Runs a statement on the connection that follows changes. */
export type RunStatement = <Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<pg.QueryResult<Row>>

/** Receipts may arrive before the followers are known. */
type PendingRequest = { received: Set<number>; missing: Set<number>; done: AbortController }

const REQUESTS = 'dendro_receipts'
/** How long a change waits for a process that does not answer; later ones do not wait for it until it answers again. */
const WAIT_MS = 1_000

/**
 * Tells when the other processes have received a change. A request for receipts is a notification in the transaction of the change. PostgreSQL delivers
 * it after those of the changed rows, and each process answers it once it has handled these. Processes are known by the connections with which they
 * follow changes.
 */
export class ChangeReceipts {
  readonly #follower: string
  readonly #clock: Clock
  readonly #pending = new Map<number, PendingRequest>()
  readonly #silent = new Set<number>()
  #ownPid: number | undefined
  /** Receipts of this process that are not sent yet. */
  #unsent: { channel: string; payload: string }[] = []
  #requests = 0

  constructor(follower: string, clock: Clock) {
    this.#follower = follower
    this.#clock = clock
  }

  /** Subscribes a connection that follows changes to requests and to receipts for this process. */
  async connected(run: RunStatement): Promise<void> {
    const { rows } = await run<{ pid: number }>('select pg_backend_pid() as pid')
    const pid = rows[0]?.pid
    await run(`listen ${REQUESTS}; listen ${REQUESTS}_${pid}`)
    this.#ownPid = pid
  }

  /** Without the connection no receipts arrive, so nobody waits for them. */
  disconnected(): void {
    this.#ownPid = undefined
    for (const { done } of this.#pending.values()) done.abort()
  }

  /** Handles a notification: a request of another process, or a receipt. */
  heard(run: RunStatement, channel: string, payload: string): void {
    const [pid = 0, request = 0] = payload.split(' ').map(Number)
    if (channel !== REQUESTS) this.#received(pid, request)
    else if (pid !== this.#ownPid && this.#ownPid !== undefined) {
      this.#unsent.push({ channel: `${REQUESTS}_${pid}`, payload: `${this.#ownPid} ${request}` })
      if (this.#unsent.length === 1) void this.#send(run)
    }
  }

  /** Sends receipts one batch after the other. A process that misses one waits for its bound. */
  async #send(run: RunStatement): Promise<void> {
    while (this.#unsent.length > 0) {
      const sent = this.#unsent.length
      const [channels, payloads] = [this.#unsent.map(({ channel }) => channel), this.#unsent.map(({ payload }) => payload)]
      await run('select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as n (channel, payload)', [
        channels,
        payloads,
      ]).catch(() => undefined)
      this.#unsent = this.#unsent.slice(sent)
    }
  }

  ask(): ReceiptRequest | undefined {
    const pid = this.#ownPid
    if (pid === undefined) return undefined
    this.#requests += 1
    const request = this.#requests
    return {
      statement: (changed) => {
        this.#pending.set(request, { received: new Set(), missing: new Set(), done: new AbortController() })
        return `
        with noted as materialized (${changed})
        select changed,
          case when changed <> '' then pg_notify('${REQUESTS}', '${pid} ${request}') end,
          case when changed <> '' then array(
            select pid from pg_stat_activity where datname = current_database() and application_name = '${this.#follower}') end as followers
        from noted`
      },
      receivedBy: (followers) => this.#wait(request, followers),
    }
  }

  async #wait(request: number, followers: readonly number[]): Promise<void> {
    const pending = this.#pending.get(request)
    if (!pending) return
    const { received, missing, done } = pending
    if (followers.length > 0) for (const pid of this.#silent) if (!followers.includes(pid)) this.#silent.delete(pid)
    for (const pid of followers) if (pid !== this.#ownPid && !this.#silent.has(pid) && !received.has(pid)) missing.add(pid)
    if (missing.size > 0 && !done.signal.aborted) {
      const isLate = await this.#clock.sleep(WAIT_MS, done.signal).then(
        () => true,
        () => false,
      )
      if (isLate) for (const pid of missing) this.#silent.add(pid)
    }
    this.#pending.delete(request)
  }

  #received(pid: number, request: number): void {
    this.#silent.delete(pid)
    const pending = this.#pending.get(request)
    pending?.received.add(pid)
    if (pending?.missing.delete(pid) && pending.missing.size === 0) pending.done.abort()
  }
}
