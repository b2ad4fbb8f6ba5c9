import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openObjectStore } from '../../../test/support/object-store.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

const s3 = openObjectStore()
let endpoint = ''
let app: TestApp
let org: TestOrganization
let root = ''
let dir = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-cli-rehydrate-'))
  endpoint = await s3.listen({ port: 0, host: '127.0.0.1' })
  const settings = { DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_SOURCE_DIRECTORIES: `${root}/{organization}` }
  app = await openTestApp(settings, () => [], undefined, { readsSources: true })
  org = await app.newOrganization()
  dir = join(root, org.orgId)
  await mkdir(dir)
})
afterAll(async () => {
  await app?.close()
  await s3.close()
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const dendro = (words: string[], given: Parameters<typeof runCaptured>[1] = {}): Promise<Ran> =>
  runCaptured(['rehydrate', ...words], {
    ...given,
    env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: root, ...given.env },
  })

const makeDataset = async (dataset: string): Promise<void> => {
  expect((await org.ask('POST', '/datasets', { body: { collection: 'archive', dataset } })).status).toBeLessThan(300)
}
const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, n) => `{"time":"2026-11-20T08:00:${String(from + n).padStart(2, '0')}Z","n":${from + n}}\n`).join('')

test('files are read back for a range and a filter, and the receipt is printed; a repetition stores nothing', async () => {
  await makeDataset('files')
  await writeFile(join(dir, 'a.log'), lines(0, 10))
  await writeFile(join(dir, 'b.log.gz'), gzipSync(lines(10, 10)))
  const words = [
    '--directory',
    dir,
    '--files',
    '*.log*',
    '-d',
    'archive.files',
    '-t',
    '2026-11-20 08:00:05 to 2026-11-20 08:00:15',
    '--where',
    'n != 7',
  ]
  const first = await dendro([...words, '--output', 'json'])
  expect([first.status, first.err]).toEqual([0, ''])
  expect(JSON.parse(first.out)).toMatchObject({ status: 'COMPLETE', files: 2, stored_events: 9, unselected_events: 11 })
  const again = await dendro([...words, '--receipts', '--output', 'ndjson'])
  expect(again.status).toBe(0)
  const receipts = again.out.split('\n').map((line) => JSON.parse(line))
  expect(receipts).toMatchObject([
    { name: 'a.log', status: 'COMPLETE', stored_events: 0 },
    { name: 'b.log.gz', status: 'COMPLETE', stored_events: 0 },
  ])
  const listed = await dendro(['--list', '--output', 'json'])
  expect(JSON.parse(listed.out).rehydrations).toHaveLength(2)
})

test('a file that was refused is named, and the status is 1', async () => {
  await makeDataset('broken')
  await writeFile(join(dir, 'torn.gz'), gzipSync(lines(0, 5)).subarray(0, -12))
  const { status, err } = await dendro(['--directory', dir, '--files', 'torn.gz', '-d', 'broken'])
  expect(status).toBe(1)
  expect(err).toMatch(/torn\.gz: .*\ndendro: 1 file and 0 events were refused/)
})

test('objects of a bucket are read with the keys of the environment; without waiting the rehydration is printed, and --id waits for it', async () => {
  await makeDataset('objects')
  for (const path of ['lake', 'lake/x/1.log'])
    expect((await fetch(`${endpoint}/${path}`, { method: 'PUT', body: lines(0, 3) })).status).toBe(200)
  const env = { AWS_ACCESS_KEY_ID: 'ada', AWS_SECRET_ACCESS_KEY: 'secret' }
  const words = ['--bucket', 'lake', '--prefix', 'x/', '--endpoint', endpoint, '-d', 'objects']
  const made = await dendro([...words, '--no-wait', '--output', 'json'], { env })
  expect(made.status, made.err).toBe(0)
  const { id, origin } = JSON.parse(made.out)
  expect(origin.secret_access_key).toBe('***')
  const ended = await dendro(['--id', id, '--output', 'json'])
  expect([ended.status, JSON.parse(ended.out).stored_events]).toEqual([0, 3])
})

test('a rehydration that waits for its bucket is cancelled, also while another command waits for it', async () => {
  await makeDataset('late')
  const env = { AWS_ACCESS_KEY_ID: 'ada' }
  const words = ['--bucket', 'absent', '--endpoint', endpoint, '-d', 'late', '--output', 'json']
  const made = await dendro([...words, '--no-wait'], { env, input: 'secret\n' })
  const { id } = JSON.parse(made.out)
  const waiting = dendro(['--id', id])
  const cancelling = dendro(['--cancel', id, '--output', 'json'])
  const clock = setInterval(() => app.clock.advance(5_000), 200)
  const [waited, cancelled] = await Promise.all([waiting, cancelling]).finally(() => clearInterval(clock))
  expect([cancelled.status, JSON.parse(cancelled.out).status]).toEqual([0, 'CANCELLED'])
  expect([waited.status, waited.err]).toEqual([1, expect.stringContaining('the rehydration was cancelled')])
  expect((await dendro(['--cancel', id])).status).toBe(1)
})

test('wrong usage is refused with status 2 before anything is sent', async () => {
  const refusal = async (...words: string[]): Promise<string> => {
    const { status, err } = await dendro(words)
    expect(status).toBe(2)
    return err
  }
  expect(await refusal('--directory', dir)).toContain('--dataset')
  expect(await refusal('-d', 'x')).toContain('--directory or --bucket')
  expect(await refusal('-d', 'x', '--directory', dir, '--access-key-id', 'ada')).toContain('--access-key-id is not for a directory')
  expect(await refusal('-d', 'x', '--bucket', 'b', '--files', '*')).toContain('--files is not for a bucket')
  expect(await refusal('-d', 'x', '--bucket', 'b')).toContain('AWS_ACCESS_KEY_ID')
  expect(await refusal('-d', 'no.such', '--directory', dir)).toContain('no dataset')
  expect(await refusal('--list', '--id', 'x')).toContain('exclude')
  expect(await refusal('--cancel', 'x', '--directory', dir)).toContain('no files')
})
