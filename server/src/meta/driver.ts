import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import pg from 'pg'
import { badRequest, Failure, unavailable } from '../kernel/errors.ts'
import { readJson } from '../kernel/exact-json.ts'
import { inSpan } from '../kernel/own-spans.ts'
import { currentReads } from './reads.ts'
import type { Sql } from './sql.ts'

/** Runs statements. Outside Meta.write each is its own transaction. */
export type Db = {
  all<Row>(query: Sql): Promise<Row[]>
  /** Returns the first row. */
  one<Row>(query: Sql): Promise<Row | undefined>
  /** Returns the number of affected rows. */
  run(query: Sql): Promise<number>
}

/** The part of pools and clients that statements need. */
type Runner = Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>

const CONNECT_MS = 5_000
const STATEMENT_MS = 10_000
const LOCK_WAIT_MS = 5_000
/** Detects a server that stopped responding. It is longer than STATEMENT_MS, after which a healthy server answers with an error. */
const ANSWER_MS = 12_000
const IDLE_TRANSACTION_MS = 60_000
const IDLE_CONNECTION_MS = 30_000

const INT8 = 20
const JSON_TEXT = 114
const NUMERIC = 1700

/** How values that PostgreSQL sends as text are read. Columns of callers' own JSON are selected as `json`, which loses no digit, all others as `jsonb`. */
const parsers = new Map<number, (text: string) => unknown>([
  [INT8, Number],
  [NUMERIC, Number],
  [JSON_TEXT, readJson],
])

/** The settings of every connection. */
export function clientConfig(server: pg.ClientConfig): pg.ClientConfig {
  return {
    ...server,
    application_name: 'dendro',
    options: '-c timezone=UTC',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        parsers.get(oid) ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  }
}

/** Opens the connection pool of requests. Waiting for a connection, for a lock and for an answer is bounded. */
export function openPool(server: pg.ClientConfig, poolMax: number): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(server),
    max: poolMax,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_WAIT_MS,
    query_timeout: ANSWER_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
  })
  // A lost connection fails its running statement, or the pool replaces it. Without a listener its error would end the process, and the
  // pool itself does not listen while a transaction holds the connection.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return pool
}

const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

const META = { 'db.system.name': 'postgresql' }

const verbOf = (text: string): string => /[a-z]+/i.exec(text)?.[0].toLowerCase() ?? ''

/** Runs statements on a pool or a client, and translates the errors of the driver. */
export function dbOn(runner: Runner): Db {
  const execute = async (query: Sql): Promise<pg.QueryResult> => {
    const { sql: text, parameters } = query.compile(compiler)
    currentReads.getStore()?.note(text)
    try {
      return await inSpan('client', `meta ${verbOf(text)}`, META, () => runner.query(text, [...parameters]))
    } catch (cause) {
      throw toFailure(cause)
    }
  }
  return {
    all: async <Row>(query: Sql) => (await execute(query)).rows as Row[],
    one: async <Row>(query: Sql) => (await execute(query)).rows[0] as Row | undefined,
    run: async (query) => (await execute(query)).rowCount ?? 0,
  }
}

/** Returns the SQLSTATE, or the error code of the operating system (ECONNREFUSED), if there is one. */
export function sqlState(error: unknown): string | undefined {
  const from = error instanceof Failure ? error.cause : error
  return from instanceof Error && 'code' in from && typeof from.code === 'string' ? from.code : undefined
}

/** Returns the name of the violated constraint (SQLSTATE class 23), so that the caller can be told which value is taken or missing. */
export function violatedConstraint(error: unknown): string | undefined {
  const isRefusal = sqlState(error)?.startsWith('23') && error instanceof Error && 'constraint' in error
  return isRefusal ? String(error.constraint) : undefined
}

/** Whether PostgreSQL rolled the transaction back because of another one (serialization failure, deadlock). A retry may succeed. */
export const isRepeatable = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')

/** Whether the store could not be reached, as opposed to answering with an error. */
export const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.status === 503

/**
 * SQLSTATEs of temporary server problems: connection lost (08), transaction rolled back (40), out of space, memory or connections (53),
 * lock not available or timed out (55P03, 57014), server stopping or starting (57P), I/O error (58), damaged page (XX001, XX002), read-only
 * after a failover (25006).
 */
const TRANSIENT_SQL_STATES = /^(08|40|53|55P03|57014|57P|58|XX00[12]|25006|25P0[34])/
const SYSTEM_ERROR_CODE = /^E[A-Z]+$/
const DRIVER_CONNECTION_ERROR =
  /timeout|connection (terminated|ended)|terminating connection|not queryable|connection error|client was closed/i

/** Maps an unreachable or failing server to 503, and text that PostgreSQL cannot store to 400. Any other error is a bug and stays as it is. */
export function toFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error
  const state = sqlState(error)
  if (state === '22021' || state === '22P05') return badRequest('text must not contain the NUL character', { cause: error })
  const isTrouble =
    state === undefined ? DRIVER_CONNECTION_ERROR.test(error.message) : TRANSIENT_SQL_STATES.test(state) || SYSTEM_ERROR_CODE.test(state)
  return isTrouble ? unavailable('the metadata store cannot be reached at the moment', { cause: error }) : error
}
