import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { RehydratedFile, Rehydration } from '@dendro/api'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { linesIn, makeStand, numbered, orderOf, type RehydrationStand, rehydrate, text } from '../../../../test/support/rehydrations.ts'
import { openTestApp, type TestApp } from '../../../../test/support/world.ts'
import { sql } from '../../meta/sql.ts'
import { selectOrganization } from '../../resources/access/organizations/rows.ts'

let app: TestApp
let root = ''

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-rehydrate-'))
  app = await openTestApp({ DENDRO_SOURCE_DIRECTORIES: `${root}/{organization}` }, () => [], undefined, { readsSources: true })
})
afterAll(async () => {
  await app?.close()
  await rm(root, { recursive: true, force: true })
})

type Stand = RehydrationStand & { readonly dir: string }

async function openStand(files: Record<string, string | Uint8Array>): Promise<Stand> {
  let dir = ''
  const stand = await makeStand(app, async (orgId) => {
    dir = join(root, orgId)
    await mkdir(dir)
    for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content)
    return { kind: 'DIRECTORY', directory: dir }
  })
  return { ...stand, dir }
}

test('plain, gzip and zstd files are stored once; a repetition and wider selections add only what is missing', async () => {
  const own = JSON.stringify({
    '@time': '2026-11-20T08:00:40.000Z',
    '@timestamp': 1_795_161_640_000,
    '@raw': '{"n": 40}',
    '@status': 'info',
  })
  const stand = await openStand({
    'a.log': text(numbered(0, 10)),
    'b.log.gz': gzipSync(text(numbered(10, 10))),
    'c.log.zst': zstdCompressSync(text(numbered(20, 10))),
    'd.ndjson': `${own}\n`,
  })
  const from_ts = Date.parse('2026-11-20T08:00:05.000Z')
  const to_ts = Date.parse('2026-11-20T08:00:25.000Z')
  const first = await rehydrate(stand, { from_ts, to_ts, filter: "'event'" })
  expect(first).toMatchObject({ status: 'COMPLETE', files: 4, ended_files: 4, read_events: 31, stored_events: 20, unselected_events: 11 })
  expect(await linesIn(stand)).toEqual(numbered(5, 20).toSorted())
  const again = await rehydrate(stand, { from_ts, to_ts, filter: "'event'" })
  expect(again).toMatchObject({ status: 'COMPLETE', stored_events: 0, earlier_events: 20, unselected_events: 11 })
  expect(await rehydrate(stand)).toMatchObject({ status: 'COMPLETE', stored_events: 11, earlier_events: 20, unselected_events: 0 })
  expect(await linesIn(stand)).toEqual([...numbered(0, 30), '{"n": 40}'].toSorted())
  const ledger = await stand.org.ask<{ totals: object }>('GET', `/ledger?identity_id=${first.id}`)
  expect(ledger.body.totals).toMatchObject({ received: 20, stored: 20, rejected: 0, duplicate: 0 })
})

test('a file that cannot be read is refused with the reason, and the others are stored', async () => {
  const whole = gzipSync(text(numbered(0, 5)))
  const bomb = zstdCompressSync(Buffer.alloc(200 * 2 ** 20, 'x'))
  const stand = await openStand({
    'a.gz': whole.subarray(0, -12),
    'b.zst': bomb,
    'c.log': text(numbered(30, 3)),
    'd.parquet': Buffer.from('PAR1\x15\n{}\nPAR1'),
    'e.parquet': Buffer.from('PAR1\n{}\nPAR1'),
  })
  const ended = await rehydrate(stand)
  expect(ended).toMatchObject({ status: 'COMPLETE', files: 5, ended_files: 5, refused_files: 4 })
  const { body } = await stand.org.ask<{ files: RehydratedFile[] }>('GET', `/rehydrations/${ended.id}/files`)
  expect(body.files.map(({ name, status }) => [name, status])).toEqual([
    ['a.gz', 'REFUSED'],
    ['b.zst', 'REFUSED'],
    ['c.log', 'COMPLETE'],
    ['d.parquet', 'REFUSED'],
    ['e.parquet', 'REFUSED'],
  ])
  expect(body.files[3]?.failure_detail).toContain('footer')
  expect(body.files[4]?.failure_detail).toBe('it does not begin as Parquet does, as its name says')
  expect(body.files[0]?.failure_detail).toMatch(/decompress|early/)
  expect(body.files[1]?.failure_detail).toBe('it expands to more than 500 times its size')
  expect(await linesIn(stand)).toEqual(expect.arrayContaining(numbered(30, 3)))
})

test('a batch that was planned and stored before its process was killed is not stored again', async () => {
  const stand = await openStand({ 'a.log': text(numbered(0, 10)) })
  const { world } = app.app
  const first = await rehydrate(stand)
  expect(first.stored_events).toBe(10)
  // As the process left it that stored the batch and was killed before it saved so.
  await world.meta.run(sql`update rehydration_files set position = 0, planned_to = bytes, planned_at = ${world.clock.nowMs()}, status = 'WAITING'
    where rehydration_id = ${first.id}`)
  await world.meta.run(sql`update rehydrations set status = 'IN_PROGRESS', ended_at = null where id = ${first.id}`)
  const number = (await selectOrganization(world.meta, stand.org.orgId))?.number ?? 0
  await world.meta.run(sql`insert into jobs (id, org_id, kind, key, payload, created_at, due_at)
    values (${world.ids.uuid()}, ${stand.org.orgId}, 'rehydration', ${first.id}, ${JSON.stringify({ id: first.id, org_number: number })}::jsonb, 0, 0)`)
  await vi.waitFor(
    async () => expect((await stand.org.ask<Rehydration>('GET', `/rehydrations/${first.id}`)).body.status).toBe('COMPLETE'),
    { timeout: 240_000, interval: 200 },
  )
  expect(await linesIn(stand)).toEqual(numbered(0, 10).toSorted())
})

test('directories that are not open, unknown datasets and a second rehydration into a dataset are refused; one can be cancelled', async () => {
  const stand = await openStand({})
  const { org } = stand
  const refused = await org.ask('POST', '/rehydrations', { body: { ...orderOf(stand), origin: { kind: 'DIRECTORY', directory: '/etc' } } })
  expect(refused.status).toBe(400)
  const unknown = await org.ask('POST', '/rehydrations', { body: { ...orderOf(stand), log_id: org.orgId } })
  expect(unknown.status).toBe(400)
  await writeFile(join(stand.dir, 'long.log'), text(numbered(0, 60)).repeat(5_000))
  const made = await org.ask<Rehydration>('POST', '/rehydrations', { body: orderOf(stand) })
  expect((await org.ask('POST', '/rehydrations', { body: orderOf(stand) })).status).toBe(409)
  expect((await org.ask('POST', `/rehydrations/${made.body.id}/cancel`)).status).toBe(200)
  await vi.waitFor(async () => expect((await org.ask<Rehydration>('GET', `/rehydrations/${made.body.id}`)).body.status).toBe('CANCELLED'), {
    timeout: 240_000,
    interval: 200,
  })
  expect((await org.ask('POST', `/rehydrations/${made.body.id}/cancel`)).status).toBe(409)
  const other = await app.newOrganization()
  expect((await other.ask('GET', `/rehydrations/${made.body.id}`)).status).toBe(404)
})
