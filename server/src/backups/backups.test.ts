import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addEvents, ask, copyMadeEvents, linesOf, MEMORY_BYTES, makeEngines, testDeps } from '../events/store/engine.fixture.ts'
import type { EventStore } from '../events/store/events.ts'
import { parseFileLocation } from '../files/location.ts'
import { copyMadeMeta } from '../meta/database.fixture.ts'
import { type Meta, openMeta } from '../meta/meta.ts'
import { json, sql } from '../meta/sql.ts'
import { makeBackup } from './make.ts'
import { type BackupManifest, listBackups, MANIFEST, nameAt } from './manifest.ts'
import { type BackupPlace, openBackupPlace } from './place.ts'
import { type Choice, restoreBackup } from './restore.ts'
import { startBackup } from './rows.ts'
import { refuseUnfinishedRestore } from './unfinished-restore.ts'
import { verifyBackup } from './verify.ts'
import { waitForStore } from './wait.ts'

const MASTER_KEY = 'a fingerprint'

const engines = makeEngines()
const root = await mkdtemp(join(tmpdir(), 'dendro-backups-'))
const dir = join(root, 'backups')
const location = { kind: 'directory' as const, dir }
const place: BackupPlace = openBackupPlace(location)
let events: EventStore
let meta: Meta
const made: BackupManifest[] = []

beforeAll(async () => {
  const dataDir = await engines.newDir()
  await copyMadeEvents(dataDir)
  await copyMadeMeta(dataDir)
  events = await engines.open(dataDir, testDeps, { backups: location })
  meta = await openMeta({ dataDir }, testDeps)
})
afterAll(async () => {
  await meta?.close()
  await engines.cleanUp()
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const store = () => ({ clock: testDeps.clock, outside: events.writer, place, database: 'dendro' })
const newId = () => randomUUID().replaceAll('-', '')

async function backUp(base: string | null): Promise<BackupManifest> {
  const source = { ...store(), writer: events.writer, metaUrl: meta.url, masterKey: MASTER_KEY, id: newId() }
  const manifest = await makeBackup(source, base)
  made.push(manifest)
  return manifest
}

const verify = (manifest: BackupManifest) => verifyBackup({ ...store(), newId }, manifest)
const addOrganization = (name: string) =>
  meta.run(sql`
    insert into organisations (id, name, settings, created_at, modified_at)
    values (gen_random_uuid(), ${name}, ${json({ odd: 'tab\t, \\N, \n and "quotes"' })}, 1, 1)`)
const organizations = (from: Meta) => from.all<{ name: string }>(sql`select * from organisations order by number`)

async function restoreTo(dataDir: string, choice: Choice = {}, from = place, masterKey = MASTER_KEY) {
  const target = { place: from, location, dataDir, eventsUrl: undefined, postgresUrl: undefined, memoryBytes: MEMORY_BYTES, masterKey }
  return restoreBackup(target, choice, testDeps)
}

/** Every event of a restored directory, and the names of its organizations. */
async function contentsOf(dataDir: string): Promise<{ lines: string[]; names: string[] }> {
  const restored = await engines.open(dataDir)
  const opened = await openMeta({ dataDir }, testDeps)
  try {
    return { lines: await linesOf(restored.writer), names: (await organizations(opened)).map(({ name }) => name) }
  } finally {
    await opened.close()
  }
}

test('a backup brings back every event and row, each backup as of its moment', async () => {
  await addOrganization('first')
  await addEvents(events, 1, ['one', 'two'])
  const whole = await backUp(null)
  await addOrganization('second')
  await addEvents(events, 2, ['three'])
  const next = await backUp(whole.name)
  expect([whole.base, next.base]).toEqual([null, whole.name])
  const at = `${await engines.newDir()}/restored`
  expect(await restoreTo(at)).toMatchObject({ name: next.name, madeMs: next.made_at_ms })
  expect(await contentsOf(at)).toEqual({ lines: ['one', 'three', 'two'], names: ['first', 'second'] })
  const earlier = `${await engines.newDir()}/restored`
  await restoreTo(earlier, { atMs: whole.made_at_ms })
  expect(await contentsOf(earlier)).toEqual({ lines: ['one', 'two'], names: ['first'] })
  expect(await refuseUnfinishedRestore(at)).toBeUndefined()
})

test('an incremental backup stores only what the one before lacks', async () => {
  const parts = await readdir(join(dir, made[1]?.name ?? '', 'events', 'data', 'dendro', 'events_s'))
  expect(parts).toHaveLength(1)
  expect(made[1]?.events.bytes).toBeGreaterThan(made[0]?.events.bytes ?? 0)
})

test('a verification reads every part and leaves no table behind', async () => {
  const { rows } = await verify(made[1] as BackupManifest)
  const [stored] = await ask<{ rows: number }>(
    events.writer,
    "select toUInt32(sum(rows)) as rows from system.parts where active and database = 'dendro'",
  )
  expect(rows).toBe(stored?.rows)
  expect(await ask(events.writer, "select name from system.tables where name like '%scratch%'")).toEqual([])
})

/** Files of a backup that hold something. */
async function filesOf(name: string, ending: string): Promise<string[]> {
  const found = await readdir(join(dir, name), { recursive: true })
  return found.filter((path) => path.endsWith(ending)).map((path) => join(dir, name, path))
}

test.each([
  ['events of the backup', 1, 'events_s', 'data.bin', /cannot be restored|is damaged/],
  ['events of the one that it builds upon', 0, 'events_s', 'data.bin', /cannot be restored|is damaged/],
  ['metadata', 1, 'organisations', '.1', 'metadata/organisations.1 is damaged'],
  ['the list of files', 1, '.backup', '.backup', /list of the files of events .* is damaged/],
])('damage to %s is found', async (_, which, inPath, ending, reason) => {
  const [file = ''] = (await filesOf(made[which]?.name ?? '', ending)).filter((path) => path.includes(inPath))
  const before = await readFile(file)
  const damaged = Buffer.from(before)
  const at = Math.floor(damaged.length / 2)
  damaged[at] = (damaged[at] ?? 0) ^ 1
  await writeFile(file, damaged)
  await expect(verify(made[1] as BackupManifest)).rejects.toThrow(reason)
  await writeFile(file, before)
  await verify(made[1] as BackupManifest)
})

test('a shortened file is found', async () => {
  const [file = ''] = (await filesOf(made[0]?.name ?? '', 'data.bin')).filter((path) => path.includes('events_s'))
  const before = await readFile(file)
  await truncate(file, before.length - 1)
  await expect(verify(made[1] as BackupManifest)).rejects.toThrow(/cannot be restored|is damaged/)
  await writeFile(file, before)
})

test('nothing that exists is overwritten, and what an interrupted restore has left is', async () => {
  const used = await engines.newDir()
  await copyMadeEvents(used)
  await expect(restoreTo(used)).rejects.toThrow('exists: a backup is restored into a data directory without stores')
  await expect(restoreTo(used)).rejects.toThrow('exists: a backup is restored')
  const [file = ''] = (await filesOf(made[1]?.name ?? '', '.1')).filter((path) => path.includes('organisations'))
  const before = await readFile(file)
  await appendFile(file, 'x')
  const at = `${await engines.newDir()}/restored`
  await expect(restoreTo(at)).rejects.toThrow('organisations.1 is damaged')
  await expect(refuseUnfinishedRestore(at)).rejects.toThrow('was not restored to its end')
  await writeFile(file, before)
  await restoreTo(at)
  await refuseUnfinishedRestore(at)
  expect((await contentsOf(at)).lines).toEqual(['one', 'three', 'two'])
})

test('backups of others, of newer programs and unfinished ones are refused before anything is written', async () => {
  const at = join(await engines.newDir(), 'restored')
  const newest = made[1] as BackupManifest
  const path = join(dir, newest.name, MANIFEST)
  const before = await readFile(path, 'utf8')
  const withManifest = async (text: string, reason: string | RegExp): Promise<void> => {
    await writeFile(path, text)
    await expect(restoreTo(at, { name: newest.name })).rejects.toThrow(reason)
    await writeFile(path, before)
    expect(existsSync(at)).toBe(false)
  }
  await expect(restoreTo(at, {}, place, 'another')).rejects.toThrow('was made with another master key')
  await withManifest(JSON.stringify({ ...newest, form: 2, version: '9.0.0' }), 'it has form 2, of Dendro 9.0.0; this version reads form 1')
  const future = { ...newest.metadata, migrations: [...newest.metadata.migrations, '9999-future'] }
  await withManifest(JSON.stringify({ ...newest, metadata: future }), 'newer version of Dendro')
  const events = { ...newest.events, migrations: ['9999-future'] }
  await withManifest(JSON.stringify({ ...newest, events }), 'newer version of Dendro')
  await withManifest(before.slice(0, 100), 'its file backup.json is damaged')
  await withManifest(JSON.stringify({ ...newest, base: '2020-01-01T00-00-00-000Z' }), 'which 2')
  await rm(path)
  await expect(restoreTo(at, { name: newest.name })).rejects.toThrow('is unfinished')
  expect(await restoreTo(at)).toMatchObject({ name: made[0]?.name })
  await writeFile(path, before)
  await expect(restoreTo(join(at, 'x'), { name: '../..' })).rejects.toThrow('does not exist')
})

test('a folder of another program is not a backup', async () => {
  await place.put('2020-01-01T00-00-00-000Z/other.txt', Buffer.from('x'))
  await place.put('letters/started.json', Buffer.from('{}'))
  expect((await listBackups(place)).map(({ name }) => name)).toEqual(made.map(({ name }) => name))
})

test('while the bucket is away the store starts and takes events, and a backup fails with the reason', async () => {
  const away = parseFileLocation('s3://key:secret@backups/all?endpoint=http://127.0.0.1:1&region=eu-west-1')
  const opened = await engines.open(await engines.madeDir(), testDeps, { backups: away })
  await addEvents(opened, 1, ['stored'])
  expect(await linesOf(opened.writer)).toEqual(['stored'])
  const outside = opened.writer
  const id = newId()
  await startBackup(outside, { id, name: nameAt(Date.UTC(2026, 0, 1)), base: null, database: 'dendro' })
  await expect(waitForStore({ clock: testDeps.clock, outside }, id)).rejects.toThrow(/^the event store gave up: .*Connection refused/)
  const own = { clock: testDeps.clock, outside, writer: outside, place: openBackupPlace(away), database: 'dendro', id: newId() }
  await expect(makeBackup({ ...own, metaUrl: meta.url, masterKey: MASTER_KEY }, null)).rejects.toThrow(
    'the bucket of backups s3://backups/all/ does not work: ECONNREFUSED',
  )
})
