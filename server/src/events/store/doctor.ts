import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseAddress } from './address.ts'
import { type Clients, openClients } from './clients.ts'
import { type DiskSpace, judgeSpace, localSpace, spaceInWords } from './disk.ts'
import { EngineFailure, type EventDeps, eventsDir, openEngine } from './engine.ts'
import { findEngineLibrary, platformName } from './engine-library.ts'
import type { EventStoreOptions } from './events.ts'
import { isInitialized } from './first-engine-start.ts'
import { migrationStatus } from './migrate.ts'
import { explainStartError } from './refused-start.ts'
import { databaseExists, detachedParts, diskSpace, readsWithoutOrganization, serverVersion } from './rows.ts'

/** The result of one check. A failed one has advice. */
export type EventStoreFinding = { ok: boolean; what: string; advice?: string }

const ASK_MS = 5_000

/** Checks everything the event store needs, whether the service runs or not, and changes no data. */
export async function diagnoseEvents(options: EventStoreOptions, deps: EventDeps): Promise<EventStoreFinding[]> {
  if (options.url !== undefined) return diagnoseServer(options.url)
  const findings = [diagnoseLibrary(), ...(await diagnoseDirectory(options.dataDir))]
  return findings.every(({ ok }) => ok) ? [...findings, ...(await diagnoseEngine(options, deps))] : findings
}

function diagnoseLibrary(): EventStoreFinding {
  try {
    findEngineLibrary()
    return { ok: true, what: `the event engine is installed for ${platformName()}` }
  } catch (cause) {
    return { ok: false, what: `the event engine is not installed for ${platformName()}`, advice: messageOf(cause) }
  }
}

async function diagnoseDirectory(dataDir: string): Promise<EventStoreFinding[]> {
  const dir = await deepestExisting(eventsDir(dataDir))
  const { uid, mode } = await stat(dir)
  const probe = await mkdtemp(join(dir, 'doctor-')).catch(messageOf)
  if (!probe.startsWith(dir))
    return [{ ok: false, what: `${dir} cannot be written: ${probe}`, advice: 'give it to the user of the service' }]
  await rm(probe, { recursive: true })
  const isOurs = uid === process.getuid?.() || dir !== eventsDir(dataDir)
  const isPrivate = (mode & 0o077) === 0 || dir !== eventsDir(dataDir)
  return [
    { ok: true, what: `${dir} can be written` },
    ...(isOurs
      ? []
      : [{ ok: false, what: `${dir} belongs to user ${uid}`, advice: 'run the service as that user, or give it the directory' }]),
    ...(isPrivate ? [] : [{ ok: false, what: `${dir} is open to other users of this machine`, advice: `chmod 700 ${dir}` }]),
    await diagnoseSpace(dir),
  ]
}

async function deepestExisting(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return found ? path : deepestExisting(resolve(path, '..'))
}

async function diagnoseSpace(dir: string): Promise<EventStoreFinding> {
  return judged(await localSpace(dir), `for ${dir}`)
}

function judged(space: DiskSpace, where: string): EventStoreFinding {
  const what = `${spaceInWords(space)} ${where}`
  const advice = 'free some space, delete datasets or shorten retention'
  switch (judgeSpace(space)) {
    case 'ok':
      return { ok: true, what }
    case 'tight':
      return { ok: false, what: `${what}, which is little`, advice }
    case 'full':
      return { ok: false, what: `${what}: events are refused`, advice }
  }
}

/** Starts the engine. Before the first start of the service it uses a temporary directory, so that nothing incomplete is left. */
async function diagnoseEngine(options: EventStoreOptions, deps: EventDeps): Promise<EventStoreFinding[]> {
  const made = await isInitialized(options.dataDir)
  const dataDir = made ? options.dataDir : await mkdtemp(join(tmpdir(), 'dendro-doctor-'))
  try {
    const engine = await openEngine({ dataDir, memoryBytes: options.memoryBytes, lockWaitMs: 0 }, deps)
    try {
      const started = await diagnoseAnswers(engine.clients(), 'the event engine starts and answers')
      return made ? [...started, ...(await diagnoseData(engine.clients()))] : started
    } finally {
      await engine.close()
    }
  } catch (cause) {
    if (cause instanceof EngineFailure && cause.reason === 'locked') {
      return [{ ok: true, what: `the event engine is running on ${eventsDir(dataDir)}: stop the service to look at its tables` }]
    }
    return [
      { ok: false, what: messageOf(cause), advice: 'check the message of the engine, or set DENDRO_CLICKHOUSE_URL to another server' },
    ]
  } finally {
    if (!made) await rm(dataDir, { recursive: true, force: true })
  }
}

async function diagnoseServer(url: string): Promise<EventStoreFinding[]> {
  const advice = 'check DENDRO_CLICKHOUSE_URL and that the server runs'
  let clients: Clients
  try {
    clients = openClients(parseAddress(url))
  } catch (cause) {
    return [{ ok: false, what: messageOf(cause), advice }]
  }
  const { address, outside } = clients
  try {
    const answers = await diagnoseAnswers(clients, `the event store at ${address.url} answers`)
    if (!(await databaseExists(outside, address.database))) {
      return [...answers, { ok: true, what: `the database ${address.database} will be created at the first start` }]
    }
    const space = await diskSpace(clients.writer, address.cluster, AbortSignal.timeout(ASK_MS))
    const disk = space ? [judged(space, 'on the disk of the event store')] : []
    return [...answers, ...disk, ...(await diagnoseData(clients)), await diagnoseIsolation(clients)]
  } catch (cause) {
    const known = explainStartError(cause, { ...address, isEmbedded: false })
    if (known) return [{ ok: false, what: known.message, advice }]
    return [{ ok: false, what: `the event store at ${address.url} does not answer: ${messageOf(cause)}`, advice }]
  } finally {
    await clients.close()
  }
}

async function diagnoseAnswers({ outside }: Clients, what: string): Promise<EventStoreFinding[]> {
  return [{ ok: true, what: `${what}, version ${await serverVersion(outside, AbortSignal.timeout(ASK_MS))}` }]
}

async function diagnoseData(clients: Clients): Promise<EventStoreFinding[]> {
  const { pending, unknown } = await migrationStatus(clients)
  const tables: EventStoreFinding =
    unknown.length > 0
      ? {
          ok: false,
          what: `its tables belong to a newer version of Dendro (${unknown.join(', ')})`,
          advice: 'start that version or a later one',
        }
      : { ok: true, what: pending.length > 0 ? `${pending.length} migrations will run at the next start` : 'its tables are up to date' }
  const detached = await detachedParts(clients.writer, AbortSignal.timeout(ASK_MS))
  const parts = detached.map(({ table, reason, parts }) => ({
    ok: false,
    what: `${parts} damaged parts of ${table} were detached (${reason})`,
    advice: 'check the ledger: rows that it reports as missing are lost, the others are in merged parts',
  }))
  return [tables, ...parts]
}

/** The embedded engine isolates organizations by row policies; on an external server an administrator must create them. */
async function diagnoseIsolation(clients: Clients): Promise<EventStoreFinding> {
  const advice = 'make a user that may only select, with a row policy, and name it as reader=user:password in DENDRO_CLICKHOUSE_URL'
  if (!clients.address.reader)
    return { ok: true, what: 'reads use the login of the writer: only the service itself isolates organizations' }
  return (await readsWithoutOrganization(clients.reader, AbortSignal.timeout(ASK_MS)))
    ? { ok: false, what: 'the reader sees rows although its query names no organization', advice }
    : { ok: true, what: 'the reader sees nothing unless its query names the organization' }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
