import pg from 'pg'
import { clientConfig } from './driver.ts'

const PROBE_MS = 3_000
const ASKS_PER_PROBE = 10

/** A Probe finds out whether the server answers. */
export type Probe = { ask(): Promise<void>; close(): void }

/**
 * openProbe keeps a connection for pings, so that they neither wait for the pool nor start a process each second. Now and then it makes a new one,
 * which a server that answers old connections only does not survive.
 */
export function openProbe(server: pg.ClientConfig): Probe {
  let kept: { client: pg.Client; asked: number } | undefined
  const connect = async () => {
    const client = new pg.Client({ ...clientConfig(server), connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS })
    client.on('error', () => undefined)
    await client.connect().catch((cause) => {
      client.end().catch(() => undefined)
      throw cause
    })
    return { client, asked: 0 }
  }
  return {
    ask: async (): Promise<void> => {
      const used = kept ?? (await connect())
      kept = undefined
      try {
        await used.client.query('select 1')
        used.asked += 1
        if (used.asked < ASKS_PER_PROBE) kept = used
      } finally {
        if (kept !== used) used.client.end().catch(() => undefined)
      }
    },
    close: () => {
      kept?.client.end().catch(() => undefined)
      kept = undefined
    },
  }
}
