import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { FileLocation } from '../../files/location.ts'
import { type SupervisedChild, supervise } from '../../kernel/child.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { Secret } from '../../kernel/secret.ts'
import type { StoreAddress, StoreLogin } from './address.ts'
import { type Clients, openClients } from './clients.ts'
import type { ColdStorage } from './cold-disk.ts'
import { ALLOCATOR, DATABASE, engineConfig, usersConfig } from './engine-config.ts'
import { findEngineLibrary } from './engine-library.ts'
import { type EngineLog, forwardEngineLog } from './engine-log.ts'
import { capabilityDropCommand } from './engine-rights.ts'
import { isOverloaded, startId as startIdOf } from './rows.ts'

export type EngineOptions = {
  dataDir: string
  memoryBytes: number
  spillBytes?: number
  /** Where backups are kept; without it the engine refuses to make or restore one. */
  backups?: FileLocation | undefined
  cold?: ColdStorage | undefined
  /** How long a start waits until the engine of a service that just died releases the directory. */
  lockWaitMs?: number
  freePort?: () => Promise<number>
  /** Called before each start, also of one that replaces an engine that has ended. */
  onStart?: () => void
}

export type EventDeps = { clock: Clock; log: Logger; ids: Ids }

/** The embedded event engine, a supervised child. Its clients change with every restart, so do not keep them. */
export type Engine = { child: SupervisedChild; clients(): Clients; close(): Promise<void> }

/** SPILL_BYTES is what queries may write to disk where nobody says otherwise. */
const SPILL_BYTES = 8 * 2 ** 30
const LOCK_WAIT_MS = 10_000
const START_AGAIN_MS = 250
const PORT_TRIES_MAX = 10
const PASSWORD_BYTES = 32
const READY_BOUND_MS = 5_000
const READY_MS = 120_000
const STOP_MS = 15_000
/** Longer than any start takes. Nothing reads files of older starts. */
const STALE_MS = 600_000
const START_DIR = /^start-/
const LAST_WORDS_SHOWN = 500
const ENGINE_PROGRAM = join(import.meta.dirname, 'engine-child.ts')
/** The engine begins to listen with its first statement, then waits at its prompt. The prompt is unused but keeps it alive. */
const STATEMENT = 'SYSTEM START LISTEN HTTP'

/** The embedded event store's directory; the engine's own files are in its subdirectory `store`. */
export const eventsDir = (dataDir: string): string => join(resolve(dataDir), 'events')
export const storeDir = (dataDir: string): string => join(eventsDir(dataDir), 'store')

/** Starts the engine on its directory and on a free port, once its predecessor has released the directory. */
export async function openEngine(options: EngineOptions, deps: EventDeps): Promise<Engine> {
  const giveUpMs = deps.clock.monotonicMs() + (options.lockWaitMs ?? LOCK_WAIT_MS)
  for (let tries = 1; ; tries += 1) {
    const starter = makeStarter(options, deps)
    try {
      const child = await supervise(starter.plan, deps)
      return { child, clients: starter.clients, close: () => child.close() }
    } catch (cause) {
      await starter.giveUp()
      const why = startReasonOf(starter.lastWords())
      const again = (why === 'locked' && deps.clock.monotonicMs() < giveUpMs) || (why === 'port taken' && tries < PORT_TRIES_MAX)
      if (!again) throw failedStart(why, starter.lastWords(), options.dataDir, cause)
      deps.log.info({ why }, 'event engine could not start yet, trying again')
      await deps.clock.sleep(START_AGAIN_MS)
    }
  }
}

/** Temporary reasons (another engine, a taken port, a bucket that is away), damage that the engine reports, and everything else. */
type StartReason = 'locked' | 'port taken' | 'bucket away' | 'broken' | 'other'

/** A failed start with advice for the administrator. */
export class EngineFailure extends Error {
  readonly reason: StartReason

  constructor(reason: StartReason, sentence: string, cause: unknown) {
    super(sentence, { cause })
    this.reason = reason
  }
}

/** Derives the reason from the engine's last log lines; its exit status says nothing. */
function startReasonOf(lastWords: string): StartReason {
  if (/Another server instance in same directory/.test(lastWords)) return 'locked'
  if (/Address already in use/.test(lastWords)) return 'port taken'
  if (/S3_ERROR|for S3 disk/.test(lastWords)) return 'bucket away'
  return /Exception/.test(lastWords) ? 'broken' : 'other'
}

function failedStart(reason: StartReason, lastWords: string, dataDir: string, cause: unknown): EngineFailure {
  const dir = eventsDir(dataDir)
  const fail = (sentence: string) => new EngineFailure(reason, sentence, cause)
  switch (reason) {
    case 'locked':
      return fail(`another server is running on ${dir}; stop it or choose another data directory`)
    case 'port taken':
      return fail('the event engine found no free port on 127.0.0.1')
    case 'bucket away':
      return fail(
        `the event engine did not start on ${dir}: the bucket of DENDRO_COLD_STORAGE does not answer, and what describes the events in it is not on the disk; start again when it answers`,
      )
    case 'broken':
    case 'other': {
      const said = lastWords.trim().slice(-LAST_WORDS_SHOWN)
      const why = said === '' ? (cause instanceof Error ? cause.message : String(cause)) : said
      return fail(`the event engine did not start on ${dir}: ${why}`)
    }
  }
}

/** Keeps the values that change with every start: port, passwords, the id the engine must answer with, and the clients that use them. */
function makeStarter(options: EngineOptions, deps: EventDeps) {
  const log = deps.log.child({ child: 'event engine' })
  let clients: Clients | undefined
  let startId = ''
  let engineLog: EngineLog | undefined
  let child: ChildProcess | undefined

  async function start(): Promise<ChildProcess> {
    options.onStart?.()
    await clients?.close()
    const address = newAddress(await (options.freePort ?? freePort)(), deps.ids)
    startId = deps.ids.uuid()
    const configFile = await writeConfig(options, address, startId, deps.clock)
    clients = openClients(address)
    const spawned = spawnEngine(
      await capabilityDropCommand([resolve(options.dataDir), eventsDir(options.dataDir), storeDir(options.dataDir)], log),
      configFile,
    )
    engineLog = forwardEngineLog(spawned.stderr, log, () => {
      log.error({}, 'the disk failed to sync; the event engine restarts from the data on disk')
      spawned.kill('SIGKILL')
    })
    child = spawned
    return spawned
  }

  /** An engine that cannot listen logs the reason and keeps running. */
  async function isReady(signal: AbortSignal): Promise<void> {
    if (startReasonOf(lastWords()) === 'port taken') child?.kill('SIGKILL')
    await checkStartId(signal)
  }

  async function checkStartId(signal: AbortSignal): Promise<void> {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(READY_BOUND_MS)])
    if ((await startIdOf(opened().outside, bound)) !== startId) throw new Error('another program answers on the port of the event engine')
  }

  /** An engine that refuses a statement for lack of memory or slots is busy, not dead. Killing it would end every caller's work. */
  async function checkAlive(signal: AbortSignal): Promise<void> {
    await checkStartId(signal).catch((cause) => {
      if (!isOverloaded(cause)) throw cause
    })
  }

  const opened = (): Clients => {
    if (!clients) throw new Error('the event engine was never started')
    return clients
  }

  const lastWords = (): string => engineLog?.lastWords() ?? ''

  return {
    clients: opened,
    lastWords,
    giveUp: async () => {
      await clients?.close()
      await engineLog?.ended
    },
    plan: {
      name: 'event engine',
      spawn: start,
      ready: isReady,
      ping: checkAlive,
      // Idle connections would keep the engine for seconds. When its standard input ends, it finishes running work and exits.
      stop: (running: ChildProcess) => {
        clients?.close().catch((err) => log.warn({ err }, 'clients of the event engine did not close'))
        running.stdin?.end()
      },
      readyMs: READY_MS,
      stopMs: STOP_MS,
    },
  }
}

type EmbeddedAddress = StoreAddress & Required<Pick<StoreAddress, 'ledger'>> & { reader: StoreLogin }

const newAddress = (port: number, ids: Ids): EmbeddedAddress => ({
  url: `http://127.0.0.1:${port}`,
  database: DATABASE,
  cluster: undefined,
  writer: { user: 'writer', password: new Secret(ids.secret(PASSWORD_BYTES)) },
  reader: { user: 'reader', password: new Secret(ids.secret(PASSWORD_BYTES)) },
  ledger: { user: 'ledger_reader', password: new Secret(ids.secret(PASSWORD_BYTES)) },
})

/**
 * Writes files for this start alone. An engine whose service was killed during its start reads its files late. If they were those of the
 * next start, it would take that one's port, id and passwords.
 */
async function writeConfig(options: EngineOptions, address: ReturnType<typeof newAddress>, startId: string, clock: Clock): Promise<string> {
  const eventsRoot = eventsDir(options.dataDir)
  await mkdir(storeDir(options.dataDir), { recursive: true, mode: 0o700 })
  await chmod(eventsRoot, 0o700)
  await removeStale(eventsRoot, clock)
  const dir = join(eventsRoot, `start-${startId}`)
  await mkdir(dir, { mode: 0o700 })
  const usersFile = join(dir, 'users.xml')
  const configFile = join(dir, 'config.xml')
  await writeSecretFile(usersFile, usersConfig(address, options.memoryBytes))
  await writeSecretFile(
    configFile,
    engineConfig({
      storeDir: storeDir(options.dataDir),
      usersFile,
      port: Number(new URL(address.url).port),
      startId,
      memoryBytes: options.memoryBytes,
      spillBytes: options.spillBytes ?? SPILL_BYTES,
      cores: availableParallelism(),
      backups: options.backups,
      cold: options.cold,
    }),
  )
  return configFile
}

const writeSecretFile = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600, flag: 'wx' })

/** Removes the files of earlier starts. Another start on the same directory may do so at the same time. */
async function removeStale(eventsRoot: string, clock: Clock): Promise<void> {
  for (const name of await readdir(eventsRoot)) {
    if (!START_DIR.test(name)) continue
    const dir = join(eventsRoot, name)
    const made = await stat(dir).catch(() => undefined)
    if (made && clock.nowMs() - made.mtimeMs > STALE_MS) await rm(dir, { recursive: true, force: true })
  }
}

function spawnEngine(prefix: readonly string[], configFile: string) {
  const [program = '', ...args] = [
    ...prefix,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    ENGINE_PROGRAM,
    findEngineLibrary(),
    `--config-file=${configFile}`,
    '--interactive',
    `--query=${STATEMENT}`,
  ]
  const child = spawn(program, args, {
    // A separate process group: Ctrl-C in a terminal must reach only the service, which then stops the engine in order.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { TZ: 'UTC', ...ALLOCATOR, ...codeCache() },
  })
  // Closing the lifeline of an engine that just died is not an error.
  child.stdin.on('error', () => undefined)
  return child
}

/**
 * The engine gets none of our environment, which may hold secrets and variables that the engine would interpret, except where Node keeps compiled
 * code: without it every start compiles the program of the child, for 50 ms. Dates are in UTC.
 */
export function codeCache(): { NODE_COMPILE_CACHE?: string } {
  // Node names the directory of its own version, which it makes below the one that it is given.
  const dir = getCompileCacheDir()
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: dirname(dir) }
}

/** Asks the kernel for a free port. Another program may take it before the engine does; the start then fails and is retried. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(0, '127.0.0.1', done)
  })
  const address = server.address()
  await new Promise((done) => server.close(done))
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1')
  return address.port
}
