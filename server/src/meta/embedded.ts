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
import type { Log } from '../kernel/log.ts'
import { type Dumper, listDumps, syncPath } from './dump.ts'
import { lockDataDir } from './lock.ts'
import { endOldServer } from './old-server.ts'
import { findPrograms, giveTo, type PgPrograms } from './pg-programs.ts'
import { openProbe } from './probe.ts'
import { makeSocketDir, PG_PORT, PG_USER, socketDirOf, socketUrl } from './socket.ts'

export type EmbeddedServer = {
  child: SupervisedChild
  /** url is how to connect: over a Unix socket that only this user can reach. */
  url: string
  dumper: Dumper
  close(): Promise<void>
}

type Deps = { clock: Clock; log: Log }
type Place = { metaDir: string; pgDir: string; socketDir: string; programs: PgPrograms }

/** RECOVERY_MS is for replaying the write-ahead log after a crash on a slow disk. */
const RECOVERY_MS = 300_000
const STOP_MS = 20_000
/** START_AGAIN_MS is how long a start waits for what a killed server left behind: its last processes notice its death within a second. */
const START_AGAIN_MS = 10_000
const HALF_MADE = 'pg.new'
const STILL_IN_USE = /lock file|shared memory block/
const NO_SPACE = /No space left on device/
/** INITDB_WORDS_MAX is enough for the cause, which comes first; a line for every file it could not remove may follow. */
const INITDB_WORDS_MAX = 500
const LOG_TAIL_LINES = 12

/** SETTINGS hold in every start: durable (reliability.md 2), small, no network, time in UTC. */
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
  // Details and statements can hold values of users; what a statement did wrong reaches us through the driver.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: 0,
}

/** startEmbedded brings up our own PostgreSQL below the data directory, made on the first start, and keeps it running until closed. */
export async function startEmbedded(dataDir: string, connectionsMax: number, deps: Deps): Promise<EmbeddedServer> {
  const metaDir = join(resolve(dataDir), 'meta')
  await mkdir(metaDir, { recursive: true, mode: 0o700 })
  const lock = await lockDataDir(metaDir)
  try {
    const place = await prepare(metaDir)
    await createOnce(place, deps.log)
    const url = socketUrl(place.socketDir)
    const child = await startAgainWhileInUse(place, { connectionString: url }, connectionsMax, deps)
    return {
      child,
      url,
      dumper: { url, dumpsDir: join(metaDir, 'dumps'), own: (dir) => giveTo(place.programs.owner, dir) },
      close: async () => {
        await child.close()
        if (!place.socketDir.startsWith(metaDir)) await rm(place.socketDir, { recursive: true, force: true })
        await lock.release()
      },
    }
  } catch (cause) {
    await lock.release()
    throw cause
  }
}

async function prepare(metaDir: string): Promise<Place> {
  const programs = await findPrograms(metaDir)
  const socketDir = socketDirOf(metaDir)
  await makeSocketDir(socketDir)
  await giveTo(programs.owner, socketDir)
  return { metaDir, pgDir: join(metaDir, 'pg'), socketDir, programs }
}

/**
 * createOnce makes the data directory of PostgreSQL under another name and renames it when whole: a half-made one is made anew. Where traces
 * say that there was data, nothing is made in its place.
 */
async function createOnce({ metaDir, pgDir, programs }: Place, log: Log): Promise<void> {
  if (await stat(pgDir).catch(() => undefined)) return
  const traces = (await readdir(metaDir)).filter((name) => name.startsWith('pg.replaced-'))
  if (traces.length > 0 || (await listDumps(join(metaDir, 'dumps'))).length > 0) {
    throw new Error(`the metadata store ${pgDir} is gone. ${howToRestore(metaDir)}`)
  }
  // A name of its own: where our predecessor was killed, its initdb may still be writing for a moment.
  const halfMade = join(metaDir, `${HALF_MADE}${process.pid}-${randomBytes(4).toString('hex')}`)
  for (const left of (await readdir(metaDir)).filter((name) => name.startsWith(HALF_MADE))) {
    await rm(join(metaDir, left), { recursive: true, force: true, maxRetries: 3 }).catch((err) =>
      log.warn({ err }, 'a half-made store stays'),
    )
  }
  await initdb(programs, halfMade).catch(async (cause) => {
    await rm(halfMade, { recursive: true, force: true })
    throw cause
  })
  await rename(halfMade, pgDir)
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
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (status === 0) return
  if (NO_SPACE.test(said)) throw new Error(`the disk of ${dirname(dir)} is full: free some space and start again`)
  throw new Error(`the metadata store could not be created in ${dir}: ${said.slice(0, INITDB_WORDS_MAX).trim()}`)
}

async function startAgainWhileInUse(place: Place, server: pg.ClientConfig, connectionsMax: number, deps: Deps): Promise<SupervisedChild> {
  const untilMs = deps.clock.monotonicMs() + START_AGAIN_MS
  for (;;) {
    const tail: string[] = []
    try {
      return await supervise(plan(place, server, connectionsMax, deps, tail), deps)
    } catch (cause) {
      const said = tail.join('\n')
      if (STILL_IN_USE.test(said) && deps.clock.monotonicMs() < untilMs) continue
      throw new Error(await explain(place, said), { cause })
    }
  }
}

function plan(place: Place, server: pg.ClientConfig, connectionsMax: number, deps: Deps, tail: string[]) {
  const probe = openProbe(server)
  return {
    name: 'postgres',
    readyMs: RECOVERY_MS,
    stopMs: STOP_MS,
    spawn: async () => {
      await endOldServer(place.pgDir, deps)
      await rm(join(place.socketDir, `.s.PGSQL.${PG_PORT}.lock`), { force: true })
      return spawnServer(place, connectionsMax, deps.log.child({ child: 'postgres' }), tail)
    },
    ready: () => probe.ask(),
    ping: () => probe.ask(),
    // SIGINT is PostgreSQL's fast shutdown: running statements are given up, everything committed is kept.
    stop: (child: ChildProcess) => void child.kill('SIGINT'),
  }
}

/**
 * LIFELINE makes PostgreSQL leave when this process does, however it ends: a shell that is nobody's child waits on a pipe from us and, when it
 * closes unsaid, asks for the fast shutdown and then the immediate one. The first shell becomes PostgreSQL itself, so its process id is ours to
 * watch and kill. A word on the pipe says that PostgreSQL has already left.
 */
const LIFELINE = `exec 3<&0 </dev/null
( ( read -r word <&3 || { kill -INT $$; for second in 1 2 3 4 5; do sleep 1; kill -0 $$ || exit; done; kill -QUIT $$; } ) >/dev/null 2>&1 & )
exec "$@" 3<&-`

/** INITDB_LIFELINE ends initdb and its helpers, a process group of their own, when this process leaves: what they make is then of no use. */
const INITDB_LIFELINE = `exec 3<&0 </dev/null
( ( read -r word <&3 || kill -s KILL -- -$$ ) >/dev/null 2>&1 & )
exec "$@" 3<&-`

function spawnServer({ pgDir, socketDir, programs }: Place, connectionsMax: number, log: Log, tail: string[]): ChildProcess {
  const settings = { ...SETTINGS, max_connections: connectionsMax, unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"` }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [...programs.prefix, join(programs.bin, 'postgres'), '-D', pgDir, ...options]
  const child = spawn('/bin/sh', ['-c', LIFELINE, 'sh', ...command], {
    stdio: ['pipe', 'ignore', 'pipe'],
    // Its own process group: Ctrl-C in a terminal is for us, and we stop PostgreSQL when our work is done.
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

/** ONE_CONNECTION are fatal words to one connection only, at each stop and while starting; who has it learns them from the driver. */
const ONE_CONNECTION = /^(terminating connection|the database system is )/

function forward(line: string, log: Log): void {
  const [, level = '', message = line] = /^([A-Z]+\d?): {2}(.*)$/.exec(line) ?? []
  if (ONE_CONNECTION.test(message)) log.debug({ message }, 'postgres says')
  else if (level === 'PANIC') log.error({ message }, 'postgres panics')
  else if (level === 'FATAL' || level === 'WARNING') log.warn({ message }, 'postgres warns')
  else log.debug({ message }, 'postgres says')
}

/** explain makes a failed start a sentence that says what to do; a directory that cannot be opened is never reset by itself. */
async function explain({ metaDir, pgDir, programs }: Place, said: string): Promise<string> {
  const made = (await readFile(join(pgDir, 'PG_VERSION'), 'utf8').catch(() => 'unknown')).trim()
  const quoted = said === '' ? 'It said nothing.' : `It said:\n${said}\n`
  const advice = NO_SPACE.test(said) ? 'Free some space on that disk and start again.' : howToRestore(metaDir)
  return `the metadata store ${pgDir} (of PostgreSQL ${made}) could not be opened with the programs in ${programs.bin}. ${quoted}Nothing was changed. ${advice}`
}

const howToRestore = (metaDir: string): string =>
  `To go back to the latest dump in ${join(metaDir, 'dumps')}: DENDRO_DATA_DIR='${dirname(metaDir)}' node ${join(import.meta.dirname, '..', 'main.ts')} restore`
