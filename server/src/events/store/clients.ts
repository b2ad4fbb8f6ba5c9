import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import { inSpan } from '../../kernel/own-spans.ts'
import type { StoreAddress, StoreLogin } from './address.ts'
import { openReads, type Reads } from './reads.ts'

/** The connections to the event store. Closing them aborts requests in progress. */
export type Clients = {
  address: StoreAddress
  writer: ClickHouseClient
  reader: ClickHouseClient
  /** Sends queries of callers, with the login of the reader. */
  reads: Reads
  /** Reads the ledger, with memory that queries of callers cannot use up. */
  ledger: ClickHouseClient
  /** The writer without a database: for pings, and to create the database. */
  outside: ClickHouseClient
  close(): Promise<void>
}

const WRITER_TIMEOUT_MS = 120_000
/** Above every time limit of a query, so that the store ends a query with an error before the connection times out. */
const READER_TIMEOUT_MS = 660_000
const WRITER_CONNECTIONS_MAX = 32
const READER_CONNECTIONS_MAX = 128
/** Below the keep-alive time of any server with default settings (3 s and more). */
const IDLE_SOCKET_MS = 2_500

/** 64-bit numbers come as text, since `seq` must not pass through a double. */
const EVERY_STATEMENT: ClickHouseSettings = { output_format_json_quote_64bit_integers: 1 }
/** Closing the connection ends the query. */
const EVERY_READ: ClickHouseSettings = { ...EVERY_STATEMENT, cancel_http_readonly_queries_on_client_close: 1 }

/** Creates the clients for one address. Nothing is sent yet. */
export function openClients(address: StoreAddress): Clients {
  const outside = openClient(address.url, address.writer, { clickhouse_settings: EVERY_STATEMENT })
  const writer = openClient(address.url, address.writer, {
    database: address.database,
    request_timeout: WRITER_TIMEOUT_MS,
    max_open_connections: WRITER_CONNECTIONS_MAX,
    clickhouse_settings: EVERY_STATEMENT,
  })
  const login = address.reader ?? address.writer
  // A separate reader is read-only by its profile, which forbids even setting `readonly` again.
  const settings: ClickHouseSettings = address.reader ? EVERY_READ : { ...EVERY_READ, readonly: '2' }
  const reader = openClient(address.url, login, {
    database: address.database,
    request_timeout: READER_TIMEOUT_MS,
    max_open_connections: READER_CONNECTIONS_MAX,
    clickhouse_settings: settings,
  })
  const reads = recordedReads(openReads(address, login, { settings, connectionsMax: READER_CONNECTIONS_MAX, idleMs: IDLE_SOCKET_MS }))
  const ledger = address.ledger
    ? openClient(address.url, address.ledger, {
        database: address.database,
        request_timeout: WRITER_TIMEOUT_MS,
        max_open_connections: WRITER_CONNECTIONS_MAX,
        clickhouse_settings: EVERY_READ,
      })
    : reader
  return {
    address,
    writer,
    reader,
    reads,
    ledger,
    outside,
    close: async () => {
      reads.close()
      await Promise.all([writer.close(), reader.close(), ledger.close(), outside.close()])
    },
  }
}

const EVENTS = { 'db.system.name': 'clickhouse' }

const recordedReads = (reads: Reads): Reads => ({
  ...reads,
  run: (statement) => inSpan('client', 'events read', EVENTS, () => reads.run(statement)),
})

function openClient(url: string, login: StoreLogin, options: ClickHouseClientConfigOptions): ClickHouseClient {
  return createClient({
    url,
    username: login.user,
    password: login.password.reveal(),
    application: 'dendro',
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS },
    // Long parameters go into the body, since URLs are bounded.
    use_multipart_params_auto: true,
    ...options,
    // The client's own logging prints failures that we already report.
    log: { level: ClickHouseLogLevel.OFF },
  })
}
