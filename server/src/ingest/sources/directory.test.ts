import { appendFile, copyFile, mkdir, mkdtemp, rename, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { FailureBody, Source } from '@dendro/api'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { storedEvents } from '../../../../test/support/stored-events.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/support/world.ts'
import { sql } from '../../meta/sql.ts'
import { selectOrganization } from '../../resources/access/organizations/rows.ts'
import { deletePositions, insertPosition, selectPositions, wasChecked } from '../../resources/data/sources/sources.ts'
import { isRotated } from './directory.ts'

let app: TestApp
let root = ''

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-sources-'))
  app = await openTestApp({ DENDRO_SOURCE_DIRECTORIES: `${root}/{organization}` }, () => [], undefined, { readsSources: true })
})
afterAll(async () => {
  await app?.close()
  await rm(root, { recursive: true, force: true })
})

type Stand = { org: TestOrganization; dir: string; logId: string; id: string; body: object }

async function openSource(origin: object = {}, prepare: (dir: string) => Promise<unknown> = async () => undefined): Promise<Stand> {
  const org = await app.newOrganization()
  const dir = join(root, org.orgId)
  await mkdir(dir)
  await prepare(dir)
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'files', dataset: 'app' } })
  const body = { name: 'files', log_id: made.body.id, origin: { kind: 'DIRECTORY', directory: dir, files: '*.log*', ...origin } }
  const source = await org.ask<Source>('POST', '/sources', { body })
  expect(source.status, JSON.stringify(source.body)).toBe(201)
  return { org, dir, logId: made.body.id, id: source.body.id, body }
}

const sourceOf = async ({ org, id }: Stand): Promise<Source> => (await org.ask<Source>('GET', `/sources/${id}`)).body

/** The lines of all events, in order of arrival. */
async function linesIn({ org, logId }: Stand): Promise<string[]> {
  const { world } = app.app
  const number = (await selectOrganization(world.meta, org.orgId))?.number ?? 0
  return (await storedEvents(world, { orgId: org.orgId, orgNumber: number }, logId)).map(({ line }) => line)
}

const until = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 240_000, interval: 200 })

/** Waits until the source has received a number of events, and returns their lines. */
async function received(stand: Stand, count: number): Promise<string[]> {
  await until(async () => {
    const { state } = await sourceOf(stand)
    expect(state.received_events, JSON.stringify(state)).toBe(count)
  })
  const lines = await linesIn(stand)
  expect(lines).toHaveLength(count)
  return lines
}

/** Waits until the source has looked at its files twice more, so that it would have found what it should not take. */
async function checked(stand: Stand): Promise<void> {
  const name = `zz-${Math.random()}.log`
  const { received_events: before } = (await sourceOf(stand)).state
  await writeFile(join(stand.dir, name), 'last\n')
  await until(async () => expect((await sourceOf(stand)).state.received_events).toBeGreaterThan(before))
}

const numbered = (from: number, count: number): string[] =>
  Array.from(
    { length: count },
    (_, n) => `2026-11-28T08:00:00.${String(from + n).padStart(3, '0')}Z info event ${from + n} of the application`,
  )
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

test('lines of files that match are stored as they are written, whole lines only, with the path of their file', async () => {
  const stand = await openSource({ files: '**/*.log' })
  await mkdir(join(stand.dir, 'deep/er'), { recursive: true })
  await writeFile(join(stand.dir, 'app.log'), '{"n":1,"message":"one"}\n\ntwo\nthr')
  await writeFile(join(stand.dir, 'deep/er/other.log'), 'deep\n')
  await writeFile(join(stand.dir, 'not.txt'), 'not wanted\n')
  expect((await received(stand, 3)).toSorted()).toEqual(['deep', 'two', '{"n":1,"message":"one"}'])
  await appendFile(join(stand.dir, 'app.log'), 'ee\r\n')
  expect((await received(stand, 4)).toSorted()).toEqual(['deep', 'three', 'two', '{"n":1,"message":"one"}'])
  const { state } = await sourceOf(stand)
  expect(state).toMatchObject({ status: 'RUNNING', refused_events: 0, received_bytes: 24 + 1 + 4 + 7 + 5 })
  await until(async () => expect((await sourceOf(stand)).state.waiting_bytes).toBe(0))
  const { world } = app.app
  const number = (await selectOrganization(world.meta, stand.org.orgId))?.number ?? 0
  const events = await storedEvents(world, { orgId: stand.org.orgId, orgNumber: number }, stand.logId)
  expect(events.find(({ line }) => line === 'deep')?.keys).toMatchObject({ '$log.file.path': join(stand.dir, 'deep/er/other.log') })
  const ledger = await stand.org.ask<{ totals: object }>('GET', `/ledger?identity_id=${stand.id}`)
  expect(ledger.body.totals).toMatchObject({ received: 4, stored: 4, rejected: 0, duplicate: 0 })
})

test('of the positions of two sources only those that are named are deleted', async () => {
  const { meta, ids } = app.app.world
  const stands = [await openSource({ files: 'none' }), await openSource({ files: 'none' })]
  const rows = Array.from({ length: 3 }, (_, at) => ({
    id: ids.uuid(),
    part: `gone-${at}`,
    position: at,
    planned_to: null,
    planned_at: null,
    details: { name: 'gone.log' },
  }))
  for (const { org, id } of stands) {
    const place = { org_id: org.orgId, source_id: id }
    for (const row of rows) expect(await insertPosition(meta, place, { ...row, id: ids.uuid() }, 0)).toBe(1)
  }
  const [first, second] = stands as [Stand, Stand]
  const known = await selectPositions(meta, first.id)
  await deletePositions(
    meta,
    first.id,
    [...known.slice(0, 2), ...(await selectPositions(meta, second.id))].map(({ id }) => id),
  )
  expect((await selectPositions(meta, first.id)).map(({ id }) => id)).toEqual(known.slice(2).map(({ id }) => id))
  expect(await selectPositions(meta, second.id)).toHaveLength(3)
})

test('a file that is renamed, copied and truncated, or compressed is read once', async () => {
  const stand = await openSource()
  const path = (name: string) => join(stand.dir, name)
  await writeFile(path('app.log'), text(numbered(0, 20)))
  await received(stand, 20)
  // By renaming, with lines that were written shortly before.
  await appendFile(path('app.log'), text(numbered(20, 5)))
  await rename(path('app.log'), path('app.log.1'))
  await writeFile(path('app.log'), text(numbered(25, 5)))
  await received(stand, 30)
  // By copying and truncating; the new content soon is longer than the old one.
  await copyFile(path('app.log'), path('app.log.2'))
  await truncate(path('app.log'))
  await appendFile(path('app.log'), text(numbered(30, 20)))
  await received(stand, 50)
  // By compressing, with a line that was not read before.
  const whole = text(numbered(30, 25))
  await writeFile(path('app.log'), text(numbered(55, 3)))
  await writeFile(path('app.log.3.gz'), gzipSync(whole))
  await received(stand, 58)
  await rename(path('app.log.1'), path('app.log.4'))
  await writeFile(path('app.log.5.zst'), zstdCompressSync(text(numbered(0, 25))))
  await unlink(path('app.log.4'))
  await checked(stand)
  await checked(stand)
  const lines = (await linesIn(stand)).filter((line) => line !== 'last')
  expect(lines.toSorted()).toEqual(numbered(0, 58).toSorted())
})

test('files with equal beginnings are different files', async () => {
  const stand = await openSource()
  for (const job of [1, 2, 3]) await writeFile(join(stand.dir, `job-${job}.log`), 'started\n')
  await received(stand, 3)
})

test('a line of any length moves on: its beginning is stored, and the next line is whole', async () => {
  const stand = await openSource()
  await writeFile(join(stand.dir, 'app.log'), `first\n${'x'.repeat(9_000_000)}\nafter\n`)
  await until(async () => expect(await linesIn(stand)).toHaveLength(3))
  const lines = (await linesIn(stand)).toSorted()
  expect(lines.map((line) => line.length)).toEqual([5, 5, 2 ** 20])
  expect(lines.slice(0, 2)).toEqual(['after', 'first'])
})

test('lines that are no UTF-8, and control characters, do not stop the source', async () => {
  const stand = await openSource()
  await writeFile(join(stand.dir, 'app.log'), Buffer.from([0xff, 0xfe, 0x41, 0x0a, 0x00, 0x01, 0x0a, 0x5b, 0x7b, 0x0a, 0x7b, 0x0a]))
  await appendFile(join(stand.dir, 'app.log'), 'after\n')
  expect(await received(stand, 5)).toContain('after')
})

test('a broken compressed file is named, and does not keep the others waiting', async () => {
  const stand = await openSource()
  const whole = gzipSync(text(numbered(0, 2_000)))
  await writeFile(join(stand.dir, 'old.log.gz'), whole.subarray(0, whole.length / 2))
  await writeFile(join(stand.dir, 'app.log'), 'fine\n')
  await received(stand, 1)
  app.clock.advance(20_000)
  await until(async () =>
    expect((await sourceOf(stand)).state).toMatchObject({ status: 'DELAYED', last_error: expect.stringContaining('old.log.gz') }),
  )
  await writeFile(join(stand.dir, 'old.log.gz'), whole)
  await received(stand, 2_001)
})

test('files that are older than the source are read from their end if it says so', async () => {
  const stand = await openSource({ start: 'END' }, (dir) => writeFile(join(dir, 'old.log'), 'before\n'))
  await until(async () => expect(await wasChecked(app.app.world.meta, stand.id)).toBe(true))
  await writeFile(join(stand.dir, 'new.log'), 'new\n')
  await received(stand, 1)
  await appendFile(join(stand.dir, 'old.log'), 'more\n')
  expect((await received(stand, 2)).toSorted()).toEqual(['more', 'new'])
})

test('a paused source keeps its position, and a deleted one is unknown', async () => {
  const stand = await openSource()
  await writeFile(join(stand.dir, 'app.log'), 'one\n')
  await received(stand, 1)
  expect((await stand.org.ask<Source>('POST', `/sources/${stand.id}/pause`)).body).toMatchObject({
    paused: true,
    state: { status: 'PAUSED' },
  })
  await appendFile(join(stand.dir, 'app.log'), 'two\n')
  const other = await openSource()
  await writeFile(join(other.dir, 'app.log'), 'one\n')
  await received(other, 1)
  expect(await linesIn(stand)).toEqual(['one'])
  expect((await stand.org.ask<Source>('POST', `/sources/${stand.id}/resume`)).status).toBe(200)
  expect((await received(stand, 2)).toSorted()).toEqual(['one', 'two'])
  expect((await stand.org.ask('DELETE', `/sources/${stand.id}`)).status).toBe(204)
  expect((await stand.org.ask('GET', `/sources/${stand.id}`)).status).toBe(404)
})

test('of many small files each line is stored once, and each file is remembered', async () => {
  const files = Array.from(
    { length: 200 },
    (_, n) => [`${n % 3 === 0 ? 'shop' : 'host'}-${n}.log`, [`first line of file ${n}`, `second line of file ${n}`]] as const,
  )
  const stand = await openSource({}, async (dir) => {
    for (const [name, lines] of files) await writeFile(join(dir, name), text(lines))
  })
  const lines = files.flatMap(([, own]) => own)
  expect((await received(stand, lines.length)).toSorted()).toEqual(lines.toSorted())
  await rename(join(stand.dir, 'host-7.log'), join(stand.dir, 'host-7.log.1'))
  await appendFile(join(stand.dir, 'host-8.log'), 'third line of file 8\n')
  expect((await received(stand, lines.length + 1)).toSorted()).toEqual([...lines, 'third line of file 8'].toSorted())
})

test('a limit of the organization delays the source, and nothing is lost', async () => {
  const stand = await openSource()
  const limit = { category: 'INGESTION_LIMITS', value: 700, unit: 'BYTES', target: 'ORGANISATION', time_window: 'PER_MONTH', scope: {} }
  const made = await stand.org.ask<{ id: string }>('POST', '/limits', {
    body: { ...limit, scope: { organisation: { id: stand.org.orgId } } },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  await writeFile(join(stand.dir, 'app.log'), text(numbered(0, 10)))
  await received(stand, 10)
  await appendFile(join(stand.dir, 'app.log'), text(numbered(10, 10)))
  const waiting_bytes = text(numbered(10, 10)).length
  await until(async () => expect((await sourceOf(stand)).state).toMatchObject({ status: 'DELAYED', waiting_bytes }))
  expect((await stand.org.ask('DELETE', `/limits/${made.body.id}`)).status).toBe(204)
  await until(async () => {
    app.clock.advance(5_000)
    expect((await sourceOf(stand)).state).toMatchObject({ status: 'RUNNING', received_events: 20, refused_events: 0 })
  })
  expect((await linesIn(stand)).toSorted()).toEqual(numbered(0, 20))
})

test('only directories that the operator has opened to the organization are read, by no way around', async () => {
  const stand = await openSource()
  const { org, dir, body } = stand
  const other = await app.newOrganization()
  await mkdir(join(root, other.orgId))
  await writeFile(join(root, other.orgId, 'secret.log'), 'secret of another\n')
  const refused = [`/etc`, root, join(root, other.orgId), `${dir}/../${other.orgId}`, `${dir}x`]
  for (const directory of refused) {
    const answer = await org.ask<FailureBody>('POST', '/sources', { body: { ...body, origin: { kind: 'DIRECTORY', directory } } })
    expect([directory, answer.status, answer.body.errors?.[0]?.field]).toEqual([directory, 400, 'origin.directory'])
    expect((await org.ask('POST', '/sources/test', { body: { origin: { kind: 'DIRECTORY', directory } } })).status).toBe(400)
  }
  await symlink(join(root, other.orgId, 'secret.log'), join(dir, 'link.log'))
  await symlink(join(root, other.orgId), join(dir, 'folder'))
  await writeFile(join(dir, 'target'), 'by a link\n')
  await symlink(join(dir, 'target'), join(dir, 'own.log'))
  expect(await received(stand, 1)).toEqual(['by a link'])
  const led = await org.ask('POST', '/sources/test', { body: { origin: { kind: 'DIRECTORY', directory: `${dir}/folder` } } })
  expect(led.body).toMatchObject({ result: false, failure_reason: expect.stringContaining('leads out') })
  expect((await org.ask('POST', '/sources/test', { body: { origin: { kind: 'DIRECTORY', directory: dir } } })).body).toEqual({
    result: true,
  })
  const absent = await org.ask('POST', '/sources/test', { body: { origin: { kind: 'DIRECTORY', directory: `${dir}/absent` } } })
  expect(absent.body).toMatchObject({ result: false })
})

test.each([0, 3 * 3_600_000])('a batch that is stored and not noted is not stored again, %i ms later', async (laterMs) => {
  const stand = await openSource()
  const { meta } = app.app.world
  await meta.run(sql`
    create function refuse_to_advance() returns trigger language plpgsql as $$ begin raise exception 'as if the process were killed'; end $$`)
  await meta.run(sql`
    create trigger refuse_to_advance before update on source_positions for each row when (new.planned_to is null)
    execute function refuse_to_advance()`)
  await writeFile(join(stand.dir, 'app.log'), text(numbered(0, 100)))
  await until(async () => expect(await linesIn(stand)).toHaveLength(100))
  await until(async () => expect((await sourceOf(stand)).state).toMatchObject({ status: 'DELAYED', received_events: 0 }))
  // More lines do not change what was planned, and neither does a copy.
  await appendFile(join(stand.dir, 'app.log'), text(numbered(100, 20)))
  await rename(join(stand.dir, 'app.log'), join(stand.dir, 'app.log.1'))
  if (laterMs > 0) await meta.run(sql`delete from post_claims`)
  app.clock.advance(laterMs)
  await meta.run(sql`drop function refuse_to_advance cascade`)
  await until(async () => {
    app.clock.advance(1_000)
    expect((await sourceOf(stand)).state.received_events).toBe(120)
  })
  expect((await linesIn(stand)).toSorted()).toEqual(numbered(0, 120).toSorted())
})

test('names of rotated files begin as the file did', () => {
  const pairs = [
    ['app.log', 'app.log.1'],
    ['app.log.1', 'app.log.2.gz'],
    ['app.log', 'app-2026-11-28.log.gz'],
    ['0.log', '0.log.20261128-080000.gz'],
  ] as const
  expect(pairs.filter(([before, name]) => !isRotated(before, name))).toEqual([])
  expect([isRotated('job-1.log', 'job-2.log'), isRotated('web.log', 'api.log')]).toEqual([false, false])
})
