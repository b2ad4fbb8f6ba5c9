import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, statfs, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { buildApp } from 'fauxqs'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { socketDirOf, socketUrl } from '../../server/src/meta/socket.ts'
import { copyMadeStores, killServices, type Service, startService, stop, until, untilUp } from '../support/service.ts'

const KEY = 'dk_kestrel-4-lanterns-and-a-wheel-of-cheese'
const EVENTS = 200_000
const POST_EVENTS = 10_000
const run = promisify(execFile)
const MIB = 2 ** 20
/** More than an export requires as free space; none of it is written. */
const DISK_BYTES = 1_024 * MIB

const root = await mkdtemp(join(tmpdir(), 'dendro-exports-'))
const [dir, disk, image] = [join(root, 'data'), join(root, 'disk'), join(root, 'image')]
async function mountDisk(): Promise<void> {
  await writeFile(image, '')
  await truncate(image, DISK_BYTES)
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', image])
  await mkdir(disk)
  await run('mount', ['-o', 'loop', image, disk])
}
const mounted = await mountDisk().then(
  () => true,
  () => false,
)
if (!mounted) process.stderr.write('THE TEST OF A FULL DISK FOR EXPORTS DID NOT RUN: it needs the right to mount\n')

const buckets = buildApp({ logger: false })
let endpoint = ''

type Export = {
  export_id: string
  status: string
  progress: number
  bytes: number
  events: number
  location: string
  failure_detail?: string
}

const start = async (env: Record<string, string> = {}): Promise<Service> =>
  untilUp(startService(dir, { DENDRO_BOOTSTRAP_API_KEY: KEY, ...env }))

async function ask<T>({ url }: Service, method: string, path: string, body?: string): Promise<T> {
  const headers = { 'x-service-api-key': KEY, 'content-type': path === '/' ? 'application/x-ndjson' : 'application/json' }
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (answer.status === 204 ? undefined : await answer.json()) as T
}

const order = (service: Service, compression: string): Promise<Export> =>
  ask<Export>(service, 'POST', '/exports', JSON.stringify({ search_details: { from_expr: '*', time_range: 'Last 1 day' }, compression }))

/** An event with its number; every third is a text line instead of JSON. */
const lineOf = (n: number): string => (n % 3 === 0 ? `event ${n} of the till` : `{"n": ${n}, "message": "sold", "till": "${n % 7}"}`)
const numberOf = (raw: string): number => Number(/^event (\d+) /.exec(raw)?.[1] ?? /"n": (\d+)/.exec(raw)?.[1])

/** Reads a file line by line. */
function expectEveryEvent(file: Buffer): void {
  const counts = new Uint8Array(EVENTS)
  for (const line of file.toString().split('\n').slice(0, -1)) {
    const raw: string = JSON.parse(line)['@raw']
    const n = numberOf(raw)
    expect(raw === lineOf(n)).toBe(true)
    counts[n] = (counts[n] ?? 0) + 1
  }
  expect(counts.every((count) => count === 1)).toBe(true)
}

beforeAll(async () => {
  endpoint = await buckets.listen({ port: 0, host: '127.0.0.1' })
  await mkdir(dir)
  await copyMadeStores(dir)
  const service = await start()
  for (let first = 0; first < EVENTS; first += POST_EVENTS) {
    await ask(service, 'POST', '/', Array.from({ length: POST_EVENTS }, (_, index) => lineOf(first + index)).join('\n'))
  }
  await stop(service.child, 'SIGTERM')
}, 300_000)

afterEach(killServices)
afterAll(async () => {
  await buckets.close()
  if (mounted) await run('umount', ['-l', disk])
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/** Extends the leases of a service beyond any wait, as if each job had just begun. */
async function holdForAYear(): Promise<void> {
  const client = new pg.Client({ connectionString: socketUrl(socketDirOf(join(dir, 'meta'))) })
  await client.connect()
  await client.query('update jobs set attempts = 1, lease_until_ms = lease_until_ms + 366 * 86400000::bigint where holder is not null')
  await client.end()
}

/** Starts an export and kills its service twice in the middle; the next one continues without waiting for the leases of the last. */
async function killedTwice(env: Record<string, string>, compression: string): Promise<{ service: Service; done: Export }> {
  let service = await start(env)
  const { export_id } = await order(service, compression)
  const seen: number[] = []
  const current = async (): Promise<Export> => {
    const now = await ask<Export>(service, 'GET', `/exports/${export_id}`)
    seen.push(now.progress)
    return now
  }
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const before = seen.at(-1) ?? 0
    await until(async () => (await current()).progress > before)
    await holdForAYear()
    await stop(service.child, signal)
    service = await start(env)
  }
  await until(async () => ['COMPLETE', 'FAILED'].includes((await current()).status))
  const done = await current()
  expect(done).toMatchObject({ status: 'COMPLETE', progress: 100, events: EVENTS })
  expect(seen, 'progress fell').toEqual(seen.toSorted((a, b) => a - b))
  return { service, done }
}

const bytesAt = async (location: string, headers: Record<string, string> = {}): Promise<Buffer> =>
  Buffer.from(await (await fetch(location, { headers })).arrayBuffer())

test('an export whose service is killed and stopped in the middle of it is complete in the end, with every event once', async () => {
  const { done } = await killedTwice({}, 'gzip')
  const bytes = await bytesAt(done.location)
  expect(bytes.length).toBe(done.bytes)
  expectEveryEvent(gunzipSync(bytes))
})

test('so is one in a bucket, which then holds only the file, and nothing after the export is deleted', async () => {
  const bucket = (method: string) => fetch(`${endpoint}/exports`, { method })
  expect((await bucket('PUT')).status).toBe(200)
  const { service, done } = await killedTwice({ DENDRO_EXPORT_URL: `s3://key:secret@exports/of/dendro?endpoint=${endpoint}` }, 'none')
  const bytes = await bytesAt(done.location)
  expect(bytes.length).toBe(done.bytes)
  expectEveryEvent(bytes)
  expect(await bytesAt(done.location, { range: 'bytes=1000000-1000009' })).toEqual(bytes.subarray(1_000_000, 1_000_010))
  expect(await (await bucket('GET')).text()).toContain(`<Key>of/dendro/${done.export_id}</Key>`)
  await ask(service, 'DELETE', `/exports/${done.export_id}`)
  expect((await fetch(done.location)).status).toBe(404)
  // A bucket with objects or uploads under way cannot be deleted.
  expect((await bucket('DELETE')).status).toBe(204)
})

test.skipIf(!mounted)('a full disk ends an export with the reason and removes its file; everything else continues', async () => {
  const service = await start({ DENDRO_EXPORT_URL: `file://${disk}/exports` })
  const { export_id } = await order(service, 'none')
  const { bavail, bsize } = await statfs(disk)
  await run('fallocate', ['-l', String(bavail * bsize - 12 * MIB), join(disk, 'ballast')])
  const current = () => ask<Export>(service, 'GET', `/exports/${export_id}`)
  await until(async () => ['COMPLETE', 'FAILED'].includes((await current()).status))
  expect(await current()).toMatchObject({
    status: 'FAILED',
    failure_detail: expect.stringContaining('no space left'),
    location: '',
    bytes: 0,
  })
  await until(async () => (await readdir(join(disk, 'exports'))).length === 0)
  await expect(order(service, 'none')).rejects.toThrow(/503 .*is full/)
  await ask(service, 'POST', '/', lineOf(EVENTS))
  expect(await fetch(`${service.url}/health`).then(({ status }) => status)).toBe(200)
  await rm(join(disk, 'ballast'))
  const again = await order(service, 'gzip')
  await until(async () => ['COMPLETE', 'FAILED'].includes((await ask<Export>(service, 'GET', `/exports/${again.export_id}`)).status))
  expect(await ask<Export>(service, 'GET', `/exports/${again.export_id}`)).toMatchObject({ status: 'COMPLETE', events: EVENTS + 1 })
})
