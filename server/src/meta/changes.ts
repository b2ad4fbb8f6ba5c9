import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { ChangeReceipts, type ReceiptRequest, type RunStatement } from './change-receipts.ts'
import { clientConfig } from './driver.ts'
import { ALL, type MetaChange } from './reads.ts'

/** Receives change notifications and the state of the subscription. */
export type ChangeListener = {
  forget(orgId: string, table: string, id: string): void
  doubt(orgId: string): void
  following(arrives: boolean): void
  heard(): void
}

export type ChangeSubscription = {
  isFollowing(): boolean
  /** Asks all processes for a receipt of a change; undefined while this process could not receive any. */
  askReceipts(): ReceiptRequest | undefined
  close(): Promise<void>
}

const CHANNEL = 'dendro_rows'
/** The name of the connection by which a process follows changes. */
const FOLLOWER = 'dendro changes'
/** HEARTBEAT_MS plus HEARTBEAT_BOUND_MS limit how long a dead connection goes unnoticed. */
const HEARTBEAT_MS = 2_000
const HEARTBEAT_BOUND_MS = 3_000
const RECONNECT_MS = 250

/**
 * Subscribes to the changes of other processes, on its own connection that is reopened until closed. Notifications may be missed while
 * there is no connection, so every new one calls `doubt` for everything. Resolves after the first attempt, successful or not.
 */
export async function followChanges(
  server: pg.ClientConfig,
  listener: ChangeListener,
  deps: { clock: Clock; log: Logger },
): Promise<ChangeSubscription> {
  const closing = new AbortController()
  const first = Promise.withResolvers<void>()
  const receipts = new ChangeReceipts(FOLLOWER, deps.clock)
  let isFollowing = false
  const tracked: ChangeListener = {
    ...boundListener(listener),
    following: (arrives) => {
      if (arrives !== isFollowing) listener.following(arrives)
      isFollowing = arrives
      if (arrives) first.resolve()
      else receipts.disconnected()
    },
  }
  const running = (async () => {
    while (!closing.signal.aborted) {
      await listen(server, tracked, receipts, deps.clock, closing.signal).catch((cause) =>
        deps.log.debug({ err: cause }, 'change notifications of the metadata store failed'),
      )
      first.resolve()
      await deps.clock.sleep(RECONNECT_MS, closing.signal).catch(() => undefined)
    }
  })()
  await first.promise

  return {
    isFollowing: () => isFollowing,
    askReceipts: () => receipts.ask(),
    close: async () => {
      closing.abort()
      await running
    },
  }
}

const boundListener = (listener: ChangeListener) => ({
  forget: (orgId: string, table: string, id: string) => listener.forget(orgId, table, id),
  doubt: (orgId: string) => listener.doubt(orgId),
  heard: () => listener.heard(),
})

/** Parses what the database function note_change writes: `<organization> <table> <id>`, where the id may contain spaces. */
export function readChange(line: string): MetaChange {
  const [orgId = ALL, table = ALL, ...id] = line.split(' ')
  return { orgId, table, id: id.length === 0 ? ALL : id.join(' ') }
}

/** Listens on one connection until it is lost or the signal aborts. */
async function listen(
  server: pg.ClientConfig,
  listener: ChangeListener,
  receipts: ChangeReceipts,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const client = new pg.Client({ ...clientConfig(server), application_name: FOLLOWER, query_timeout: HEARTBEAT_BOUND_MS })
  const lost = new AbortController()
  /** The connection takes one statement at a time. */
  let latest: Promise<unknown> = Promise.resolve()
  const runSerially: RunStatement = <Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) => {
    const answer = latest.then(() => client.query<Row>(text, values && [...values]))
    latest = answer.catch(() => undefined)
    return answer
  }
  const onLost = () => {
    listener.following(false)
    lost.abort()
  }
  client.on('error', onLost)
  client.on('end', onLost)
  client.on('notification', ({ channel, payload }) => {
    if (!payload) return
    if (channel !== CHANNEL) return receipts.heard(runSerially, channel, payload)
    const { orgId, table, id } = readChange(payload)
    listener.forget(orgId, table, id)
  })
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    await receipts.connected(runSerially)
    listener.doubt('*')
    listener.heard()
    listener.following(true)
    const ended = AbortSignal.any([lost.signal, signal])
    while (!ended.aborted) {
      await clock.sleep(HEARTBEAT_MS, ended).catch(() => undefined)
      if (ended.aborted) return
      await runSerially('select 1')
      listener.heard()
    }
  } finally {
    listener.following(false)
    client.end().catch(() => undefined)
  }
}
