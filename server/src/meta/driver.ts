import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import pg from 'pg'
import { badRequest, Failure, unavailable } from '../kernel/errors.ts'
import { reading } from './reads.ts'
import type { Sql } from './sql.ts'

/** A Db runs statements; outside Meta.write each is a transaction of its own. */
export type Db = {
  all<Row>(query: Sql): Promise<Row[]>
  /** one gives the first row. */
  one<Row>(query: Sql): Promise<Row | undefined>
  /** run gives the number of rows the statement touched. */
  run(query: Sql): Promise<number>
}

/** A Runner is the one thing of the driver's pool and clients that statements need. */
type Runner = Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>

const CONNECT_MS = 5_000
const STATEMENT_MS = 10_000
const LOCK_WAIT_MS = 5_000
/** ANSWER_MS is for a server that has gone silent: later than STATEMENT_MS, after which a living server answers with an error. */
const ANSWER_MS = 12_000
const IDLE_TRANSACTION_MS = 60_000
const IDLE_CONNECTION_MS = 30_000

const INT8 = 20
const NUMERIC = 1700

/** clientConfig is what every connection of ours has in common; numbers come as numbers, also the 64-bit ones that PostgreSQL sends as text. */
export function clientConfig(server: pg.ClientConfig): pg.ClientConfig {
  return {
    ...server,
    application_name: 'dendro',
    options: '-c timezone=UTC',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  }
}

/** openPool makes the connections that requests share; waiting for one, for a lock and for an answer all have a bound. */
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
  // A lost connection fails the statement under way or is replaced by the pool; heard by nobody, its error would end the process, and the
  // pool itself does not listen while a transaction has the connection.
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

/** dbOn runs statements on a pool or on one client, and turns the driver's errors into ours. */
export function dbOn(runner: Runner): Db {
  const execute = async (query: Sql): Promise<pg.QueryResult> => {
    const { sql: text, parameters } = query.compile(compiler)
    reading.getStore()?.note(text)
    try {
      return await runner.query(text, [...parameters])
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

/** sqlState is PostgreSQL's five-letter code or the operating system's (ECONNREFUSED), when there is one. */
export function sqlState(error: unknown): string | undefined {
  const from = error instanceof Failure ? error.cause : error
  return from instanceof Error && 'code' in from && typeof from.code === 'string' ? from.code : undefined
}

/** violated names the constraint that refused a row (SQLSTATE class 23), so that a caller can be told what is taken or missing. */
export function violated(error: unknown): string | undefined {
  const isRefusal = sqlState(error)?.startsWith('23') && error instanceof Error && 'constraint' in error
  return isRefusal ? String(error.constraint) : undefined
}

/** isRepeatable says that PostgreSQL gave the transaction up in favour of another, and that the same may succeed now. */
export const isRepeatable = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')

/** isUnavailable says that the store could not be asked, as opposed to an answer. */
export const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.status === 503

/**
 * SERVER_TROUBLE are the classes of states that are our trouble and pass: connection lost (08), transaction given up (40), no space, memory or
 * connection left (53), lock not available or timed out (55P03, 57014), server going down or starting (57P), input or output error (58),
 * damaged page (XX001, XX002), read-only after a failover (25006).
 */
const SERVER_TROUBLE = /^(08|40|53|55P03|57014|57P|58|XX00[12]|25006|25P0[34])/
const CONNECTION_TROUBLE = /^E[A-Z]+$/
const DRIVER_TROUBLE = /timeout|connection (terminated|ended)|terminating connection|not queryable|connection error|client was closed/i

/** toFailure gives a lost or troubled server the status 503, and text that PostgreSQL cannot hold 400; anything else stays as it is, a bug. */
export function toFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error
  const state = sqlState(error)
  if (state === '22021' || state === '22P05') return badRequest('text must not contain the NUL character', { cause: error })
  const isTrouble = state === undefined ? DRIVER_TROUBLE.test(error.message) : SERVER_TROUBLE.test(state) || CONNECTION_TROUBLE.test(state)
  return isTrouble ? unavailable('the metadata store cannot be reached at the moment', { cause: error }) : error
}
