import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { clientConfig } from './driver.ts'
import { ALL, type Change } from './reads.ts'

/** Ears is who wants to know: a change, that changes may have been missed, that news arrives or does not, that the store answered. */
export type Ears = {
  forget(orgId: string, table: string, id: string): void
  doubt(orgId: string): void
  following(arrives: boolean): void
  heard(): void
}

export type Following = { isFollowing(): boolean; close(): Promise<void> }

const CHANNEL = 'dendro_rows'
/** HEARTBEAT_MS bounds how long a connection that died without a word goes unnoticed, together with HEARTBEAT_BOUND_MS. */
const HEARTBEAT_MS = 2_000
const HEARTBEAT_BOUND_MS = 3_000
const AGAIN_MS = 250

/**
 * followChanges listens for what other processes change, on a connection of its own that is kept up until closed. News may have been missed
 * while there was none, so every new connection doubts everything. It resolves after the first attempt, successful or not.
 */
export async function followChanges(server: pg.ClientConfig, ears: Ears, deps: { clock: Clock; log: Log }): Promise<Following> {
  const closing = new AbortController()
  const first = Promise.withResolvers<void>()
  let isFollowing = false
  const told: Ears = {
    ...earsOf(ears),
    following: (arrives) => {
      if (arrives !== isFollowing) ears.following(arrives)
      isFollowing = arrives
      if (arrives) first.resolve()
    },
  }
  const running = (async () => {
    while (!closing.signal.aborted) {
      await listen(server, told, deps.clock, closing.signal).catch((cause) =>
        deps.log.debug({ err: cause }, 'metadata changes are not heard'),
      )
      first.resolve()
      await deps.clock.sleep(AGAIN_MS, closing.signal).catch(() => undefined)
    }
  })()
  await first.promise

  return {
    isFollowing: () => isFollowing,
    close: async () => {
      closing.abort()
      await running
    },
  }
}

const earsOf = (ears: Ears) => ({
  forget: (orgId: string, table: string, id: string) => ears.forget(orgId, table, id),
  doubt: (orgId: string) => ears.doubt(orgId),
  heard: () => ears.heard(),
})

/** readChange reads what the database function note_change wrote: `<organization> <table> <id>`, where the id may have spaces. */
export function readChange(line: string): Change {
  const [orgId = ALL, table = ALL, ...id] = line.split(' ')
  return { orgId, table, id: id.length === 0 ? ALL : id.join(' ') }
}

/** listen follows on one connection until it is lost or the signal comes. */
async function listen(server: pg.ClientConfig, ears: Ears, clock: Clock, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({ ...clientConfig(server), query_timeout: HEARTBEAT_BOUND_MS })
  const lost = new AbortController()
  const onLost = () => {
    ears.following(false)
    lost.abort()
  }
  client.on('error', onLost)
  client.on('end', onLost)
  client.on('notification', ({ channel, payload }) => {
    if (channel !== CHANNEL || !payload) return
    const { orgId, table, id } = readChange(payload)
    ears.forget(orgId, table, id)
  })
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    ears.doubt('*')
    ears.heard()
    ears.following(true)
    const ended = AbortSignal.any([lost.signal, signal])
    while (!ended.aborted) {
      await clock.sleep(HEARTBEAT_MS, ended).catch(() => undefined)
      if (ended.aborted) return
      await client.query('select 1')
      ears.heard()
    }
  } finally {
    ears.following(false)
    client.end().catch(() => undefined)
  }
}
