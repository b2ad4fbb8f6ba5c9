import pg from 'pg'
import { clientConfig } from './driver.ts'

const PROBE_MS = 3_000
const PINGS_PER_CONNECTION = 10

/** Checks whether the server answers. */
export type PingConnection = { ping(): Promise<void>; close(): void }

/**
 * Keeps one connection for pings, so that they neither wait for the pool nor start a backend process each second. The connection is
 * replaced after some pings, to detect a server that answers existing connections only. Where one ping has to tell, each gets its own connection.
 */
export function openPingConnection(server: pg.ClientConfig, pingsPerConnection = PINGS_PER_CONNECTION): PingConnection {
  let kept: { client: pg.Client; pings: number } | undefined
  const connect = async () => {
    const client = new pg.Client({ ...clientConfig(server), connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS })
    client.on('error', () => undefined)
    await client.connect().catch((cause) => {
      client.end().catch(() => undefined)
      throw cause
    })
    return { client, pings: 0 }
  }
  return {
    ping: async (): Promise<void> => {
      const used = kept ?? (await connect())
      kept = undefined
      try {
        await used.client.query('select 1')
        used.pings += 1
        if (used.pings < pingsPerConnection) kept = used
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
