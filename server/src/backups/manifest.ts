import { createHash } from 'node:crypto'
import { z } from 'zod'
import { version } from '../kernel/version.ts'
import type { BackupPlace } from './place.ts'

/** The form of a backup. A program refuses a form that it does not know. */
const FORM = 1
/** Written last: a folder without it is not a backup. */
export const MANIFEST = 'backup.json'
/** Written first, so that the remains of an interrupted backup are known by their deployment. */
const STARTED = 'started.json'
/** Where the event store writes its part, and the list of its files. */
export const EVENTS = 'events'
export const EVENTS_LIST = `${EVENTS}/.backup`

const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/

const Piece = z.object({ path: z.string(), bytes: z.int(), sha256: z.string() })

const Manifest = z.object({
  form: z.literal(FORM),
  version: z.string(),
  name: z.string(),
  /** The backup that this one builds upon, or null for a complete one. */
  base: z.string().nullable(),
  started_at_ms: z.int(),
  /** The moment of the metadata, which is never older than the events. */
  made_at_ms: z.int(),
  /** Identifies the master key, which is not part of the backup. */
  master_key: z.string(),
  events: z.object({
    database: z.string(),
    migrations: z.array(z.string()),
    files: z.int(),
    bytes: z.int(),
    list: z.object({ bytes: z.int(), sha256: z.string() }),
  }),
  metadata: z.object({
    migrations: z.array(z.string()),
    tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.int(), pieces: z.array(Piece) })),
    sequences: z.array(z.object({ name: z.string(), last_value: z.int() })),
  }),
})
export type BackupManifest = z.output<typeof Manifest>
export type BackupPiece = z.output<typeof Piece>

const Started = z.object({ form: z.int(), started_at_ms: z.int(), master_key: z.string() })

/** A folder of the place: a complete backup, an unfinished one, or one that this program cannot use. */
export type FoundBackup =
  | { kind: 'complete'; name: string; manifest: BackupManifest }
  | { kind: 'unfinished'; name: string; masterKey: string; startedMs: number }
  | { kind: 'unusable'; name: string; why: string }

export const nameAt = (ms: number): string => new Date(ms).toISOString().replaceAll(':', '-').replace('.', '-')
export const isBackupName = (name: string): boolean => NAME.test(name)

export const newManifest = (fields: Omit<BackupManifest, 'form' | 'version'>): BackupManifest => ({ form: FORM, version, ...fields })

export const writeManifest = (place: BackupPlace, manifest: BackupManifest): Promise<void> =>
  place.put(`${manifest.name}/${MANIFEST}`, jsonBytes(manifest))

export const writeStarted = (place: BackupPlace, name: string, masterKey: string, startedMs: number): Promise<void> =>
  place.put(`${name}/${STARTED}`, jsonBytes({ form: FORM, started_at_ms: startedMs, master_key: masterKey }))

const jsonBytes = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value, null, 2)}\n`)

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Lists what the place has, oldest first. Folders of other programs are left out. */
export async function listBackups(place: BackupPlace): Promise<FoundBackup[]> {
  const found: FoundBackup[] = []
  for (const name of (await place.folders()).filter(isBackupName)) {
    const one = await findBackup(place, name)
    if (one) found.push(one)
  }
  return found
}

/** Undefined where the folder has no sign of a backup. */
export async function findBackup(place: BackupPlace, name: string): Promise<FoundBackup | undefined> {
  if (!isBackupName(name)) return undefined
  const bytes = await place.get(`${name}/${MANIFEST}`)
  if (bytes) return readManifest(name, bytes)
  const started = await place.get(`${name}/${STARTED}`)
  if (!started) return undefined
  const read = Started.safeParse(parsed(started))
  if (!read.success) return { kind: 'unusable', name, why: `its file ${STARTED} is damaged` }
  return { kind: 'unfinished', name, masterKey: read.data.master_key, startedMs: read.data.started_at_ms }
}

function readManifest(name: string, bytes: Uint8Array): FoundBackup {
  const json = parsed(bytes)
  const form = z.object({ form: z.int(), version: z.string() }).safeParse(json)
  if (form.success && form.data.form !== FORM) {
    return { kind: 'unusable', name, why: `it has form ${form.data.form}, of Dendro ${form.data.version}; this version reads form ${FORM}` }
  }
  const read = Manifest.safeParse(json)
  if (!read.success || read.data.name !== name) return { kind: 'unusable', name, why: `its file ${MANIFEST} is damaged` }
  return { kind: 'complete', name, manifest: read.data }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

/** The backup with those that it builds upon, the complete one first. Throws when one is missing. */
export function chainOf(backups: readonly FoundBackup[], name: string): BackupManifest[] {
  const chain: BackupManifest[] = []
  for (let next: string | null = name; next !== null; next = chain[0]?.base ?? null) {
    const wanted: string = next
    const found = backups.find((each) => each.name === wanted)
    const needed = chain[0] === undefined ? '' : `, which ${chain[0].name} builds upon,`
    if (!found) throw new Error(`the backup ${wanted}${needed} does not exist`)
    if (found.kind === 'unfinished') throw new Error(`the backup ${wanted}${needed} is unfinished`)
    if (found.kind === 'unusable') throw new Error(`the backup ${wanted}${needed} cannot be used: ${found.why}`)
    if (chain.some((each) => each.name === wanted)) throw new Error(`the backup ${wanted} builds upon itself`)
    chain.unshift(found.manifest)
  }
  return chain
}
