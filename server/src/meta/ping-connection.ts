import pg from 'pg'
import { clientConfig } from './driver.ts'

const PROBE_MS = 3_000
const PINGS_PER_CONNECTION = 10

/** Checks whether the server answers. */
export type PingConnection = { ping(): Promise<void>; close(): void }

/**
 * Keeps one connection for pings, so that they neither wait for the pool nor start a backend process each second. The connection is
 * replaced after some pings, to detect a server that only serves existing connections. With `pingsPerConnection` 1 every ping detects that.
 */
export function openPingConnection(server: pg.ClientConfig, pingsPerConnection = PINGS_PER_CONNECTION): PingConnection {
  let idle: { client: pg.Client; pings: number } | undefined
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
      const connection = idle ?? (await connect())
      idle = undefined
      try {
        await connection.client.query('select 1')
        connection.pings += 1
        if (connection.pings < pingsPerConnection) idle = connection
      } finally {
        if (idle !== connection) connection.client.end().catch(() => undefined)
      }
    },
    close: () => {
      idle?.client.end().catch(() => undefined)
      idle = undefined
    },
  }
}
