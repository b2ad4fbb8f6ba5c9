import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client'
import type { StoreAddress, StoreLogin } from './address.ts'

/** Clients are the ways into the event store; all end when closed, also with requests under way. */
export type Clients = {
  address: StoreAddress
  writer: ClickHouseClient
  reader: ClickHouseClient
  /** ledger reads what the ledger says; memory that queries of callers take is not missing there. */
  ledger: ClickHouseClient
  /** outside is the writer without a database: for pings, and for making the database. */
  outside: ClickHouseClient
  close(): Promise<void>
}

const WRITER_TIMEOUT_MS = 120_000
/** READER_TIMEOUT_MS is above every ceiling on a query's time, so that the store ends a query and says so before the connection does. */
const READER_TIMEOUT_MS = 660_000
const WRITER_CONNECTIONS_MAX = 32
const READER_CONNECTIONS_MAX = 128
/** IDLE_SOCKET_MS is below the keep-alive time of any server in its default settings (3 s and more). */
const IDLE_SOCKET_MS = 2_500

/** EVERY_STATEMENT: 64-bit numbers come as text, since `seq` must not pass through a double. */
const EVERY_STATEMENT: ClickHouseSettings = { output_format_json_quote_64bit_integers: 1 }
/** EVERY_READ: leaving the connection ends the query. */
const EVERY_READ: ClickHouseSettings = { ...EVERY_STATEMENT, cancel_http_readonly_queries_on_client_close: 1 }

/** openClients makes the clients for one address; nothing is sent yet. */
export function openClients(address: StoreAddress): Clients {
  const outside = openClient(address.url, address.writer, { clickhouse_settings: EVERY_STATEMENT })
  const writer = openClient(address.url, address.writer, {
    database: address.database,
    request_timeout: WRITER_TIMEOUT_MS,
    max_open_connections: WRITER_CONNECTIONS_MAX,
    clickhouse_settings: EVERY_STATEMENT,
  })
  const reader = openClient(address.url, address.reader ?? address.writer, {
    database: address.database,
    request_timeout: READER_TIMEOUT_MS,
    max_open_connections: READER_CONNECTIONS_MAX,
    // A reader of its own is read-only by its profile, which forbids even to repeat it.
    clickhouse_settings: address.reader ? EVERY_READ : { ...EVERY_READ, readonly: '2' },
  })
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
    ledger,
    outside,
    close: async () => {
      await Promise.all([writer.close(), reader.close(), ledger.close(), outside.close()])
    },
  }
}

function openClient(url: string, login: StoreLogin, options: ClickHouseClientConfigOptions): ClickHouseClient {
  return createClient({
    url,
    username: login.user,
    password: login.password.reveal(),
    application: 'dendro',
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS },
    // What is long goes in the body, since an address has a bound.
    use_multipart_params_auto: true,
    ...options,
    // Its own logging prints failures to the console that we report ourselves.
    log: { level: ClickHouseLogLevel.OFF },
  })
}
