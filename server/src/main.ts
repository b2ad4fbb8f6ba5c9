#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type App, openApp } from './app.ts'
import { openBackupPlace } from './backups/place.ts'
import { restoreBackup } from './backups/restore.ts'
import { refuseUnfinishedRestore } from './backups/unfinished-restore.ts'
import { type Config, readConfig, unknownSettings } from './config.ts'
import { doctor } from './doctor.ts'
import { ownAddress } from './http/base-url.ts'
import { readWebFiles } from './http/pages/web-app/files.ts'
import { ROLES } from './http/process-roles.ts'
import { systemClock } from './kernel/clock.ts'
import { systemIds } from './kernel/ids.ts'
import { openLogger } from './kernel/log.ts'
import { openVault } from './kernel/vault.ts'
import { lockDataDir } from './meta/lock.ts'
import { openMeta } from './meta/meta.ts'
import { restoreMetadata } from './meta/restore.ts'
import { ENGINE_SHARE, type OpenWorld, openSecretsAndFiles, openWorld } from './open-world.ts'
import { adoptFingerprints, recoverAdmin } from './resources/access/organizations/organizations.ts'
import { startFailure } from './start-failure.ts'

const STOP_BOUND_MS = 30_000
/** Bounds the cleanup after a failed start. */
const LEAVE_BOUND_MS = 20_000

type Command = (config: Config, rest: readonly string[]) => Promise<void>

const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries<Command>({
    start: (config) => start(config, async () => undefined),
    dev: (config) => start(config, seedOnce),
    doctor,
    restore,
    'restore-backup': restoreFromBackup,
    recover,
    adopt,
  }),
)

/** Runs the service until a stop signal. A failed start prints one sentence on standard error and exits with status 1. */
async function start(config: Config, whenUp: (address: string, firstKey: string | undefined) => Promise<void>): Promise<void> {
  const stopped = stopSignal()
  const lock = await lockDataDir(config.DENDRO_DATA_DIR)
  await refuseUnfinishedRestore(config.DENDRO_DATA_DIR)
  const world = await openOrLeave(config, stopped)
  const app = await openApp(world, config, undefined, readWebFiles()).catch(closing(world))
  const address = await listen(config, { ...app, world }).catch((thrown) => {
    // The organization exists now, and its key is shown only once, so it is printed even though the start failed.
    const key = generatedKey(config, app)
    if (key) process.stdout.write(`\n  First admin key, shown this once:\n\n    ${key}\n\n`)
    return closing(app)(thrown)
  })
  for (const name of unknownSettings(process.env)) world.log.warn({ name }, 'unknown setting')
  logRolesOfNobody(config, world)
  logLinkBase(config, app)
  const firstKey = app.firstKey?.reveal()
  greet(config, address, generatedKey(config, app))
  if (config.DENDRO_ROLES.includes('ingest')) app.prepare()
  await whenUp(address, firstKey)
  await stopped
  app.stopping()
  await systemClock.sleep(config.DENDRO_DRAIN_TIME * 1_000)
  const late = setTimeout(() => process.exit(1), STOP_BOUND_MS)
  late.unref()
  await app.close()
  await lock.release()
  // A job that did not stop must not go on: another process may have its lease now.
  process.exit(0)
}

type Listening = Pick<App, 'http' | 'listeners' | 'certificates'> & { world: OpenWorld }

/** Opens the listeners of other protocols first: once HTTP answers, the service is ready. */
async function listen(config: Config, { world, http, listeners, certificates }: Listening): Promise<string> {
  if (config.DENDRO_ROLES.includes('ingest')) {
    for (const { port } of await listeners.open(config.DENDRO_LISTENERS, certificates.ofListeners)) world.listensOn(port)
  }
  return http.listen({ host: config.DENDRO_HOST, port: config.DENDRO_PORT })
}

/**
 * Exits at once when a stop signal arrives while the stores are opening, which may wait for a remote server. The stores are crash-safe
 * then. Once they are open, a stop must close them, so that data in memory is written.
 */
async function openOrLeave(config: Config, stopped: Promise<void>): ReturnType<typeof openWorld> {
  let isOpening = true
  void stopped.then(() => isOpening && process.exit(0))
  return openWorld(config).finally(() => {
    isOpening = false
  })
}

/** Closes what is already open when the next step of a start fails, so that the stores do not outlive it. */
const closing =
  (open: { close(): Promise<void> }) =>
  async (thrown: Error): Promise<never> => {
    const late = setTimeout(() => {
      printFailure(thrown)
      process.exit(1)
    }, LEAVE_BOUND_MS)
    await open.close().catch(() => undefined)
    clearTimeout(late)
    throw thrown
  }

const printFailure = (thrown: unknown): void => void process.stderr.write(`dendro: ${startFailure(thrown).message}\n`)

/** The generated key of a first start. A key from the configuration is not printed, since many people may read the output. */
const generatedKey = (config: Config, app: App): string | undefined =>
  config.DENDRO_BOOTSTRAP_API_KEY === undefined ? app.firstKey?.reveal() : undefined

function greet(config: Config, address: string, firstKey: string | undefined): void {
  const base = config.DENDRO_PUBLIC_URL ?? address
  const lines = [
    '',
    `  Dendro listens on  ${base}`,
    `  API reference      ${base}/docs`,
    `  Data               ${resolve(config.DENDRO_DATA_DIR)}`,
  ]
  if (firstKey) {
    lines.push('', '  First admin key, shown this once:', '', `    ${firstKey}`, '', '  Send an event:', '')
    lines.push(`    curl -H 'X-SERVICE-API-KEY: ${firstKey}' -H 'x-service-dataset: web' ${base}/ingest -d '{"message": "hello"}'`)
  }
  process.stdout.write(`${lines.join('\n')}\n\n  Stop with Ctrl-C.\n\n`)
}

/** With an embedded store there is no other process, so nobody does what this one leaves out. */
function logRolesOfNobody({ DENDRO_ROLES: roles }: Config, { meta, events, log }: OpenWorld): void {
  const missing = ROLES.filter((role) => !roles.includes(role))
  if (missing.length > 0 && (meta.server || events.engine)) {
    log.warn({ missing }, 'no other process can use the embedded stores, so nobody has the roles that this one lacks')
  }
}

/** Logs the base of links in invitations and responses, so that a wrong one is noticed before a user cannot follow a link. */
function logLinkBase(config: Config, { world, http }: App): void {
  const named = config.DENDRO_PUBLIC_URL
  const at = http.addresses().find((each) => typeof each !== 'string')
  const base =
    named ?? ownAddress(config.DENDRO_HOST, typeof at === 'object' ? at.port : undefined, config.DENDRO_TLS_CERT ? 'https' : 'http')
  if (named !== undefined) world.log.info({ base }, 'links start with DENDRO_PUBLIC_URL')
  else if (config.DENDRO_TRUSTED_PROXIES.isNamed)
    world.log.info({ base }, 'links start with the address from a trusted proxy, else with this address')
  else
    world.log.info({ base }, 'links start with this address or another of this machine; set DENDRO_PUBLIC_URL to the one that people use')
}

/** Waits for the first stop signal. A terminal and a parent process may both send one, so later ones are ignored. */
const stopSignal = (): Promise<void> =>
  new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => done())
  })

/** Loads the demo data on the first start. */
async function seedOnce(address: string, firstKey: string | undefined): Promise<void> {
  if (!firstKey) return
  const cli = join(import.meta.dirname, '../../cli/src/main.ts')
  const env = { ...process.env, DENDRO_URL: address, DENDRO_API_KEY: firstKey }
  spawn(process.execPath, [cli, 'seed', 'shop'], { env, stdio: 'inherit' })
}

/** Replaces a metadata store that cannot be opened by a dump, and keeps the old store next to it. */
async function restore(config: Config, [dump]: readonly string[]): Promise<void> {
  const deps = { clock: systemClock, log: openLogger(config.DENDRO_LOG_LEVEL), ids: systemIds }
  const restored = await restoreMetadata(config.DENDRO_DATA_DIR, dump, deps)
  process.stdout.write(
    `restored ${restored.rows} rows of ${restored.dump}${restored.broken ? `; the old store is kept in ${restored.broken}` : ''}\n`,
  )
}

/** Restores a backup into empty stores: `restore-backup [NAME]`, or `--at TIME` for the latest one that is not newer. */
async function restoreFromBackup(config: Config, rest: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...rest], options: { at: { type: 'string' } }, allowPositionals: true })
  const atMs = values.at === undefined ? undefined : Date.parse(values.at)
  if (Number.isNaN(atMs)) throw new Error('--at must be a time such as 2026-11-27T12:00:00Z')
  if (positionals.length > 1 || (positionals.length === 1 && atMs !== undefined)) throw new Error('give one name of a backup, or --at')
  const { DENDRO_BACKUP_URL: location, DENDRO_DATA_DIR: dataDir } = config
  if (!location) throw new Error('DENDRO_BACKUP_URL must name the directory or bucket of the backups')
  const masterKey = config.DENDRO_MASTER_KEY ?? config.DENDRO_MASTER_KEY_FILE
  if (!masterKey && !existsSync(join(dataDir, 'master.key'))) {
    throw new Error(
      `a backup does not contain the master key: copy master.key of the deployment into ${resolve(dataDir)}, or set DENDRO_MASTER_KEY`,
    )
  }
  const deps = { clock: systemClock, log: openLogger(config.DENDRO_LOG_LEVEL), ids: systemIds }
  const lock = await lockDataDir(dataDir)
  const place = openBackupPlace(location)
  const target = {
    place,
    location,
    dataDir,
    eventsUrl: config.DENDRO_CLICKHOUSE_URL?.reveal(),
    postgresUrl: config.DENDRO_POSTGRES_URL?.reveal(),
    memoryBytes: Math.floor(config.DENDRO_MEMORY * ENGINE_SHARE),
    masterKey: openVault({ dataDir, masterKey, jwtSecret: config.DENDRO_JWT_SECRET }).fingerprint,
  }
  try {
    const restored = await restoreBackup(target, { name: positionals[0], atMs }, deps)
    process.stdout.write(
      `restored the backup ${restored.name} with all events and ${restored.rows} rows of metadata, as of ${new Date(restored.madeMs).toISOString()}\n`,
    )
  } finally {
    await place.close()
    await lock.release()
  }
}

/**
 * Prints a new administrator key for an organization that has lost its keys. It needs the data directory, so the service must be stopped.
 */
async function recover(config: Config, [organization]: readonly string[]): Promise<void> {
  const deps = { clock: systemClock, log: openLogger(config.DENDRO_LOG_LEVEL), ids: systemIds }
  const dataDir = config.DENDRO_DATA_DIR
  const lock = await lockDataDir(dataDir)
  const vault = openVault({
    dataDir,
    masterKey: config.DENDRO_MASTER_KEY ?? config.DENDRO_MASTER_KEY_FILE,
    jwtSecret: config.DENDRO_JWT_SECRET,
  })
  const meta = await openMeta({ url: config.DENDRO_POSTGRES_URL?.reveal(), dataDir }, deps)
  const recovered = await recoverAdmin({ ...deps, meta, vault }, organization).catch(closing(meta))
  process.stdout.write(
    `\n  New admin key of the organization ${recovered.organization}, shown this once:\n\n    ${recovered.key.reveal()}\n\n`,
  )
  await meta.close()
  await lock.release()
}

/** Accepts a changed token secret or export storage for the deployment; without it, a start with a changed one fails. */
async function adopt(config: Config): Promise<void> {
  const deps = { clock: systemClock, log: openLogger(config.DENDRO_LOG_LEVEL), ids: systemIds }
  const lock = await lockDataDir(config.DENDRO_DATA_DIR)
  const own = openSecretsAndFiles(config)
  const meta = await openMeta({ url: config.DENDRO_POSTGRES_URL?.reveal(), dataDir: config.DENDRO_DATA_DIR }, deps)
  try {
    await adoptFingerprints({ meta, ...own })
  } finally {
    await own.blobStore.close()
    await meta.close()
    await lock.release()
  }
  process.stdout.write('the token secret and the export storage are now those of this deployment; start all its processes with them\n')
}

const [name = 'start', ...rest] = process.argv.slice(2)
const command = commands.get(name)
try {
  if (!command) throw new Error(`unknown command ${name}; there are ${[...commands.keys()].join(', ')}`)
  await command(readConfig(process.env), rest)
} catch (thrown) {
  printFailure(thrown)
  // A failed start may have left handles open; exit anyway.
  process.exit(1)
}
