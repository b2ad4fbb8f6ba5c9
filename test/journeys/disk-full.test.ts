import { execFile } from 'node:child_process'
import { mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { clientConfig } from '../../server/src/meta/driver.ts'
import { socketDirOf, socketUrl } from '../../server/src/meta/socket.ts'
import { killServices, type Service, startService, statusOf, until, untilUp } from '../support/service.ts'

const run = promisify(execFile)
const MIB = 2 ** 20
const DISK_BYTES = 6 * 1024 * MIB

const root = await mkdtemp(join(tmpdir(), 'dendro-disk-'))
const disk = join(root, 'disk')
const image = join(root, 'image')

/** Mounts a small disk without reserved blocks, since the test may run as root. */
async function mountDisk(): Promise<void> {
  await writeFile(image, '')
  await truncate(image, DISK_BYTES)
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', image])
  await run('mkdir', [disk])
  await run('mount', ['-o', 'loop', image, disk])
}
const mounted = await mountDisk().then(
  () => true,
  () => false,
)
if (!mounted) process.stderr.write('THE TEST OF A FULL DISK DID NOT RUN: it needs the right to mount\n')

afterAll(async () => {
  await killServices()
  if (mounted) await run('umount', ['-l', disk])
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const freeBytes = async (): Promise<number> => {
  const { bavail, bsize } = await statfs(disk)
  return bavail * bsize
}
/** Fills the disk until so much is free. */
async function leave(bytes: number): Promise<void> {
  await rm(join(disk, 'ballast'), { force: true })
  const size = (await freeBytes()) - bytes
  if (size <= 0) return
  // The stores may use space meanwhile, so that it does not fit; then the disk is full.
  await run('fallocate', ['-l', String(size), join(disk, 'ballast')]).catch(() => undefined)
}

/** Fills the log of the metadata store until that store ends. */
async function fillLog(metaDir: string): Promise<void> {
  const client = new pg.Client(clientConfig({ connectionString: socketUrl(socketDirOf(metaDir)) }))
  client.on('error', () => undefined)
  await client.connect()
  try {
    for (;;) await client.query("select pg_logical_emit_message(false, 'test', repeat('x', 1000000))")
  } catch (cause) {
    expect(String(cause)).toMatch(/No space left on device|terminated/)
  } finally {
    await client.end().catch(() => undefined)
  }
}

const [EMAIL, PASSWORD] = ['admin@example.com', 'a lighthouse made of biscuits']

/** Posts lines with an idempotency key each, and retries until accepted. */
function makeSender(service: Service, key: string) {
  let made = 0
  const refused: string[] = []
  const answers: { status: number; details: string; retryAfter: string | null }[] = []
  const atMs = Date.now() - 60_000
  const post = async (id: string): Promise<number> => {
    const reply = await fetch(`${service.url}/ingest`, {
      method: 'POST',
      headers: { 'x-service-api-key': key, 'x-service-dataset': 'web', 'idempotency-key': id, 'content-type': 'application/json' },
      body: JSON.stringify({ timestamp: atMs, id, filler: 'x'.repeat(2_000) }),
    })
    const { details = '' } = (await reply.json()) as { details?: string }
    answers.push({ status: reply.status, details, retryAfter: reply.headers.get('retry-after') })
    if (reply.status !== 200) refused.push(id)
    return reply.status
  }
  const next = () => {
    made += 1
    return post(`line ${made}`)
  }
  return {
    answers,
    made: () => made,
    next,
    some: (count: number) => Promise.all(Array.from({ length: count }, next)),
    /** Retries rejected requests until none is left. */
    again: async () => {
      while (refused.length > 0) await Promise.all(refused.splice(0, 20).map(post))
    },
  }
}

test.skipIf(!mounted)(
  'a full disk refuses events with the reason, serves readers, loses nothing and needs no restart',
  { timeout: 300_000 },
  async () => {
    const service = await untilUp(
      startService(join(disk, 'data'), { DENDRO_ADMIN_EMAIL: EMAIL, DENDRO_ADMIN_PASSWORD: PASSWORD, DENDRO_RATE_LIMIT: 'off' }),
    )
    const key = /dk_[\w-]+/.exec(service.said())?.[0] ?? ''
    const ask = async (method: string, path: string, body?: object) => {
      const reply = await fetch(service.url + path, {
        method,
        headers: { 'x-service-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const text = await reply.text()
      return { status: reply.status, body: text === '' ? {} : JSON.parse(text) }
    }
    const login = () => ask('POST', '/auth/login', { email: EMAIL, password: PASSWORD })
    const diskState = async () => (await ask('GET', '/health')).body.disk
    const sender = makeSender(service, key)
    expect(new Set(await sender.some(20))).toEqual(new Set([200]))
    const { id } = (await ask('POST', '/datasets', { collection: 'shop', dataset: 'gone' })).body

    // Nearly full: the service rejects events, and everything else continues.
    await leave(300 * MIB)
    await until(async () => (await diskState()) === 'full')
    expect(new Set(await sender.some(20))).toEqual(new Set([503]))
    const refusal = sender.answers.at(-1)
    expect(refusal?.details).toMatch(
      /^the disk of the event store is full: \d+ MiB of \d+ MiB are free; events are accepted again when there is space$/,
    )
    expect(Number(refusal?.retryAfter)).toBeGreaterThan(0)
    expect([(await ask('GET', '/datasets')).status, (await login()).status, (await ask('DELETE', `/datasets/${id}`)).status]).toEqual([
      200, 200, 204,
    ])
    await leave(3_000 * MIB)
    await until(async () => (await sender.next()) === 200)

    // Full to the brim: changes may fail, readers are served.
    await leave(0)
    await until(async () => (await diskState()) !== 'ok')
    const changes = []
    for (let round = 0; round < 100; round += 1) {
      await leave(0)
      changes.push((await ask('POST', '/datasets', { collection: 'shop', dataset: `dataset ${round} ${'x'.repeat(200)}` })).status)
      if (round % 20 === 0) {
        expect(new Set(await sender.some(10))).toEqual(new Set([503]))
        expect((await ask('GET', '/datasets')).status).toBe(200)
      }
    }
    // Without space for its log the metadata store ends, and restarts until there is some.
    await fillLog(join(disk, 'data/meta'))
    await until(async () => (await statusOf(`${service.url}/health`)) === 503)
    expect(new Set(await sender.some(10))).toEqual(new Set([503]))
    const made = changes.filter((status) => status === 201).length
    await rm(join(disk, 'ballast'))
    await until(async () => (await sender.next()) === 200)
    await until(async () => (await ask('POST', '/datasets', { collection: 'shop', dataset: 'after' })).status === 201)
    expect(service.child.exitCode).toBe(null)
    expect(new Set(changes).isSubsetOf(new Set([201, 503]))).toBe(true)

    // No acknowledged event is lost, and rejected ones are stored once after the retry.
    await sender.again()
    const datasets = (await ask('GET', '/datasets')).body.datasets as { id: string; collection: string; dataset: string }[]
    const web = datasets.find(({ dataset }) => dataset === 'web')
    expect((await ask('GET', `/retention/${web?.id}`)).body.next.events).toBe(sender.made())
    const kept = datasets.filter(({ dataset }) => dataset.startsWith('dataset ')).length
    expect(kept).toBeGreaterThanOrEqual(made)
  },
)
