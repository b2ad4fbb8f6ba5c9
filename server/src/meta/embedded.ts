import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type pg from 'pg'
import { type SupervisedChild, supervise } from '../kernel/child.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { type DumpTarget, listDumps, syncPath } from './dump.ts'
import { lockDataDir } from './lock.ts'
import { endOldServer } from './old-server.ts'
import { findPrograms, giveTo, type PgPrograms } from './pg-programs.ts'
import { openPingConnection } from './ping-connection.ts'
import { makeSocketDir, PG_PORT, PG_USER, socketDirOf, socketUrl } from './socket.ts'

export type EmbeddedServer = {
  child: SupervisedChild
  /** The connection URL, over a Unix socket that only this user can reach. */
  url: string
  dumper: DumpTarget
  close(): Promise<void>
}

type Deps = { clock: Clock; log: Logger }
type EmbeddedPaths = { metaDir: string; pgDir: string; socketDir: string; programs: PgPrograms }

/** Time to replay the write-ahead log after a crash on a slow disk. */
const RECOVERY_MS = 300_000
const STOP_MS = 20_000
/** How long a start waits for the remains of a killed server: its last processes notice its death within a second. */
const START_RETRY_MS = 10_000
const UNFINISHED_PREFIX = 'pg.new'
const STILL_IN_USE = /lock file|shared memory block/
const NO_SPACE = /No space left on device/
/** Enough for the cause, which comes first. A line for every file that could not be removed may follow. */
const INITDB_OUTPUT_CHARS_MAX = 500
const LOG_TAIL_LINES = 12

/** Settings of every start: durable (reliability.md 2), small, no network, UTC. */
const SETTINGS: Record<string, string | number> = {
  listen_addresses: '',
  port: PG_PORT,
  unix_socket_permissions: '0700',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '16MB',
  work_mem: '4MB',
  maintenance_work_mem: '16MB',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  max_wal_senders: 0,
  max_worker_processes: 2,
  max_parallel_workers_per_gather: 0,
  max_parallel_maintenance_workers: 0,
  autovacuum_max_workers: 2,
  io_method: 'sync',
  jit: 'off',
  huge_pages: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '',
  // Details and statements can contain user data. The driver reports what was wrong with a statement.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: 0,
}

/** Starts the embedded PostgreSQL in the data directory, which is created on the first start, and keeps it running until closed. */
export async function startEmbedded(dataDir: string, connectionsMax: number, deps: Deps): Promise<EmbeddedServer> {
  const metaDir = join(resolve(dataDir), 'meta')
  await mkdir(metaDir, { recursive: true, mode: 0o700 })
  const lock = await lockDataDir(metaDir)
  try {
    const paths = await prepare(metaDir)
    await createOnce(paths, deps.log)
    const url = socketUrl(paths.socketDir)
    const child = await startOnceUnused(paths, { connectionString: url }, connectionsMax, deps)
    return {
      child,
      url,
      dumper: { url, dumpsDir: join(metaDir, 'dumps'), own: (dir) => giveTo(paths.programs.owner, dir) },
      close: async () => {
        await child.close()
        if (!paths.socketDir.startsWith(metaDir)) await rm(paths.socketDir, { recursive: true, force: true })
        await lock.release()
      },
    }
  } catch (cause) {
    await lock.release()
    throw cause
  }
}

async function prepare(metaDir: string): Promise<EmbeddedPaths> {
  const programs = await findPrograms(metaDir)
  const socketDir = socketDirOf(metaDir)
  await makeSocketDir(socketDir)
  await giveTo(programs.owner, socketDir)
  return { metaDir, pgDir: join(metaDir, 'pg'), socketDir, programs }
}

/**
 * Creates the PostgreSQL data directory under a temporary name and renames it when it is complete. An incomplete one is created again.
 * Refuses to create a new one where dumps or replaced directories show that there was data.
 */
async function createOnce({ metaDir, pgDir, programs }: EmbeddedPaths, log: Logger): Promise<void> {
  if (await stat(pgDir).catch(() => undefined)) return
  const traces = (await readdir(metaDir)).filter((name) => name.startsWith('pg.replaced-'))
  if (traces.length > 0 || (await listDumps(join(metaDir, 'dumps'))).length > 0) {
    throw new Error(`the metadata store ${pgDir} is missing. ${howToRestore(metaDir)}`)
  }
  // Use a unique name: the initdb of a killed predecessor may still be writing for a moment.
  const unfinished = join(metaDir, `${UNFINISHED_PREFIX}${process.pid}-${randomBytes(4).toString('hex')}`)
  for (const left of (await readdir(metaDir)).filter((name) => name.startsWith(UNFINISHED_PREFIX))) {
    await rm(join(metaDir, left), { recursive: true, force: true, maxRetries: 3 }).catch((err) =>
      log.warn({ err }, 'incomplete metadata store could not be deleted'),
    )
  }
  await initdb(programs, unfinished).catch(async (cause) => {
    await rm(unfinished, { recursive: true, force: true })
    throw cause
  })
  await rename(unfinished, pgDir)
  for (const dir of [metaDir, dirname(metaDir), dirname(dirname(metaDir))]) await syncPath(dir)
  log.info({ directory: pgDir }, 'metadata store created')
}

async function initdb(programs: PgPrograms, dir: string): Promise<void> {
  const command = [
    ...programs.prefix,
    join(programs.bin, 'initdb'),
    '-D',
    dir,
    '-U',
    PG_USER,
    '--auth=trust',
    '--encoding=UTF8',
    '--data-checksums',
  ]
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions']
  const child = spawn('/bin/sh', ['-c', INITDB_LIFELINE, 'sh', ...command, ...locale], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
    env: programs.env,
    ...programs.owner,
  })
  child.stdin.on('error', () => undefined)
  child.on('exit', () => child.stdin.end('left\n'))
  const [output, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (status === 0) return
  if (NO_SPACE.test(output)) throw new Error(`the disk of ${dirname(dir)} is full: free some space and start again`)
  throw new Error(`the metadata store could not be created in ${dir}: ${output.slice(0, INITDB_OUTPUT_CHARS_MAX).trim()}`)
}

async function startOnceUnused(
  paths: EmbeddedPaths,
  server: pg.ClientConfig,
  connectionsMax: number,
  deps: Deps,
): Promise<SupervisedChild> {
  const untilMs = deps.clock.monotonicMs() + START_RETRY_MS
  for (;;) {
    const tail: string[] = []
    try {
      return await supervise(plan(paths, server, connectionsMax, deps, tail), deps)
    } catch (cause) {
      const output = tail.join('\n')
      if (STILL_IN_USE.test(output) && deps.clock.monotonicMs() < untilMs) continue
      throw new Error(await explain(paths, output), { cause })
    }
  }
}

function plan(paths: EmbeddedPaths, server: pg.ClientConfig, connectionsMax: number, deps: Deps, tail: string[]) {
  const probe = openPingConnection(server)
  return {
    name: 'postgres',
    readyMs: RECOVERY_MS,
    stopMs: STOP_MS,
    spawn: async () => {
      await endOldServer(paths.pgDir, deps)
      await rm(join(paths.socketDir, `.s.PGSQL.${PG_PORT}.lock`), { force: true })
      return spawnServer(paths, connectionsMax, deps.log.child({ child: 'postgres' }), tail)
    },
    ready: () => probe.ping(),
    ping: () => probe.ping(),
    // SIGINT is PostgreSQL's fast shutdown: running statements are aborted, committed data is kept.
    stop: (child: ChildProcess) => void child.kill('SIGINT'),
  }
}

/**
 * Stops PostgreSQL when this process ends, even if it is killed. A detached shell waits on a pipe from this process. When the pipe closes
 * without a message, it requests the fast shutdown and then the immediate one. The first shell is replaced by PostgreSQL itself, so that we
 * can watch and kill its process id. A message on the pipe means that PostgreSQL has already exited.
 */
const LIFELINE = `exec 3<&0 </dev/null
( ( read -r word <&3 || { kill -INT $$; for second in 1 2 3 4 5; do sleep 1; kill -0 $$ || exit; done; kill -QUIT $$; } ) >/dev/null 2>&1 & )
exec "$@" 3<&-`

/** Kills initdb and its helpers, which are a separate process group, when this process ends. */
const INITDB_LIFELINE = `exec 3<&0 </dev/null
( ( read -r word <&3 || kill -s KILL -- -$$ ) >/dev/null 2>&1 & )
exec "$@" 3<&-`

function spawnServer({ pgDir, socketDir, programs }: EmbeddedPaths, connectionsMax: number, log: Logger, tail: string[]): ChildProcess {
  const settings = { ...SETTINGS, max_connections: connectionsMax, unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"` }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [...programs.prefix, join(programs.bin, 'postgres'), '-D', pgDir, ...options]
  const child = spawn('/bin/sh', ['-c', LIFELINE, 'sh', ...command], {
    stdio: ['pipe', 'ignore', 'pipe'],
    // A separate process group: Ctrl-C in a terminal reaches only this process, which stops PostgreSQL when its work is done.
    detached: true,
    env: programs.env,
    ...programs.owner,
  })
  child.stdin.on('error', () => undefined)
  child.on('exit', () => child.stdin.end('left\n'))
  createInterface(child.stderr).on('line', (line) => {
    tail.push(line)
    if (tail.length > LOG_TAIL_LINES) tail.shift()
    forward(line, log)
  })
  return child
}

/** FATAL messages that concern one connection only, at each stop and during start. The driver reports them to its user. */
const SINGLE_CONNECTION_MESSAGE = /^(terminating connection|the database system is )/

function forward(line: string, log: Logger): void {
  const [, level = '', message = line] = /^([A-Z]+\d?): {2}(.*)$/.exec(line) ?? []
  if (SINGLE_CONNECTION_MESSAGE.test(message)) log.debug({ message }, 'postgres says')
  else if (level === 'PANIC') log.error({ message }, 'postgres panics')
  else if (level === 'FATAL' || level === 'WARNING') log.warn({ message }, 'postgres warns')
  else log.debug({ message }, 'postgres says')
}

/** Returns the error text of a failed start, with advice. A directory that cannot be opened is never reset automatically. */
async function explain({ metaDir, pgDir, programs }: EmbeddedPaths, output: string): Promise<string> {
  const made = (await readFile(join(pgDir, 'PG_VERSION'), 'utf8').catch(() => 'unknown')).trim()
  const quoted = output === '' ? 'It printed nothing.' : `It said:\n${output}\n`
  const advice = NO_SPACE.test(output) ? 'Free some space on that disk and start again.' : howToRestore(metaDir)
  return `the metadata store ${pgDir} (of PostgreSQL ${made}) could not be opened with the programs in ${programs.bin}. ${quoted}Nothing was changed. ${advice}`
}

const howToRestore = (metaDir: string): string =>
  `To restore the latest dump in ${join(metaDir, 'dumps')}: DENDRO_DATA_DIR='${dirname(metaDir)}' node ${join(import.meta.dirname, '..', 'main.ts')} restore`
