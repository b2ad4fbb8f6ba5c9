import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { copyMadeMeta, silent, testDeps } from './database.fixture.ts'
import { DUMPS_KEPT, dump, listDumps, MANIFEST } from './dump.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { type Meta, openMeta } from './meta.ts'
import { restoreMetadata } from './restore.ts'
import { json, sql } from './sql.ts'

let root: string
let dataDir: string
let dumpsDir: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-dump-'))
})
beforeEach(async () => {
  dataDir = join(root, randomUUID())
  dumpsDir = join(dataDir, 'meta', 'dumps')
  await mkdir(dataDir)
  await copyMadeMeta(dataDir)
})
afterEach(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

async function withStore<T>(use: (meta: Meta) => Promise<T>): Promise<T> {
  const meta = await openMeta({ dataDir }, testDeps)
  try {
    return await use(meta)
  } finally {
    await meta.close()
  }
}

async function withServer<T>(use: (server: EmbeddedServer) => Promise<T>): Promise<T> {
  const server = await startEmbedded(dataDir, 20, testDeps)
  try {
    return await use(server)
  } finally {
    await server.close()
  }
}

const makeDump = (nowMs = systemClock.nowMs()) =>
  withServer(({ dumper }) => dump(dumper, { clock: { ...systemClock, nowMs: () => nowMs } }))
const addOrganization = (meta: Meta, name: string) =>
  meta.one<{ number: number }>(sql`
    insert into organisations (id, name, settings, created_at, modified_at)
    values (gen_random_uuid(), ${name}, ${json({ odd: 'tab\t, \\N, \n and "quotes"' })}, 1, 1) returning number`)
const organisations = (meta: Meta) => meta.all(sql`select * from organisations order by number`)

test('a dump brings back every row as it was, and numbers go on where they were', async () => {
  const before = await withStore(async (meta) => {
    await addOrganization(meta, 'one')
    await addOrganization(meta, 'two')
    await meta.run(sql`delete from organisations where name = 'two'`)
    await meta.run(sql`insert into settings (name, value) values ('a', ${json(null)})`)
    return organisations(meta)
  })
  const name = await makeDump()
  await withStore((meta) => meta.run(sql`delete from organisations`))
  const restored = await restoreMetadata(dataDir, undefined, { clock: systemClock, log: silent })
  expect(restored).toMatchObject({ dump: name, rows: 2 })
  expect((await stat(restored.broken ?? '')).isDirectory()).toBe(true)
  await withStore(async (meta) => {
    expect(await organisations(meta)).toEqual(before)
    expect(await addOrganization(meta, 'three')).toEqual({ number: 3 })
  })
})

test('a dump is private and complete, and only the latest 7 are kept', async () => {
  await withServer(async ({ dumper }) => {
    for (let day = 1; day <= DUMPS_KEPT + 2; day += 1) {
      await dump(dumper, { clock: { ...systemClock, nowMs: () => Date.UTC(2026, 0, day, 3, 4, 5) } })
    }
  })
  const dumps = await listDumps(dumpsDir)
  expect(dumps).toHaveLength(DUMPS_KEPT)
  expect([dumps[0], dumps.at(-1)]).toEqual(['2026-01-03T03-04-05Z', '2026-01-09T03-04-05Z'])
  for (const file of await readdir(join(dumpsDir, dumps[0] ?? ''))) {
    expect([file, (await stat(join(dumpsDir, dumps[0] ?? '', file))).mode & 0o777]).toEqual([file, 0o600])
  }
})

test('the remains of an interrupted dump are not a dump, and are deleted with the next', async () => {
  await cp(join(dataDir, 'meta', 'lib'), join(dumpsDir, '.unfinished'), { recursive: true })
  expect(await listDumps(dumpsDir)).toEqual([])
  const name = await makeDump()
  expect(await readdir(dumpsDir)).toEqual([name])
})

test('a damaged dump is refused and the store stays as it was', async () => {
  await withStore((meta) => addOrganization(meta, 'one'))
  const name = await makeDump()
  await writeFile(join(dumpsDir, name, 'organisations'), '')
  await expect(restoreMetadata(dataDir, name, testDeps)).rejects.toThrow('the dump is damaged: organisations has 0 rows instead of 1')
  await withStore(async (meta) => expect(await organisations(meta)).toHaveLength(1))
})

test('a dump of a newer program is refused', async () => {
  const name = await makeDump()
  const manifest = JSON.parse(await readFile(join(dumpsDir, name, MANIFEST), 'utf8'))
  await writeFile(join(dumpsDir, name, MANIFEST), JSON.stringify({ ...manifest, migrations: [...manifest.migrations, '9999-future'] }))
  await expect(restoreMetadata(dataDir, name, testDeps)).rejects.toThrow('newer version of Dendro')
})

test('a dump that the version before made of the tables of this one is restored', async () => {
  await withStore((meta) => addOrganization(meta, 'one'))
  const name = await makeDump()
  const manifest = JSON.parse(await readFile(join(dumpsDir, name, MANIFEST), 'utf8'))
  const list = { name: 'compatible_migrations', columns: ['name', 'applied_at'], rows: 1 }
  await writeFile(join(dumpsDir, name, list.name), '9999-future\t1\n')
  await writeFile(join(dumpsDir, name, MANIFEST), JSON.stringify({ ...manifest, tables: [list, ...manifest.tables] }))
  await restoreMetadata(dataDir, name, testDeps)
  await withStore(async (meta) => expect(await organisations(meta)).toHaveLength(1))
})

test('nothing is restored under a running service or from a missing dump', async () => {
  const nothing = join(root, 'nothing')
  await mkdir(nothing)
  for (const dir of [nothing, dataDir]) await expect(restoreMetadata(dir, undefined, testDeps)).rejects.toThrow('there is no dump')
  await makeDump()
  await withStore(async () => {
    await expect(restoreMetadata(dataDir, undefined, testDeps)).rejects.toThrow('in use by process')
  })
})

test('a missing store with dumps is not silently created again', async () => {
  await makeDump()
  await rename(join(dataDir, 'meta', 'pg'), join(dataDir, 'elsewhere'))
  await expect(withStore(async () => undefined)).rejects.toThrow(/is missing\. To restore the latest dump/)
  await restoreMetadata(dataDir, undefined, testDeps)
  await withStore((meta) => meta.ping())
})
