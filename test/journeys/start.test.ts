import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  commandOf,
  ended,
  isUp,
  killServices,
  processesOf,
  type Service,
  startCommand,
  startService,
  statusOf,
  stop,
  until,
  untilUp,
} from '../support/service.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-start-'))
})
afterEach(async () => {
  await killServices()
  await until(() => processesOf(dir).length === 0)
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/** Starts a service that must exit with one sentence, and returns the sentence. */
async function refused(env: Record<string, string>, dataDir = dir): Promise<string> {
  const { status, complained } = await ended(startService(dataDir, { DENDRO_LOG_LEVEL: 'silent', ...env }))
  expect([status, complained]).toEqual([1, expect.stringMatching(/^dendro: [^\n]+\n$/)])
  await until(() => processesOf(dir).length === 0)
  return complained
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s stops a start that waits for a PostgreSQL server, and leaves nothing behind',
  async (signal) => {
    const service = startService(dir, { DENDRO_POSTGRES_URL: 'postgres://127.0.0.1:1/dendro' })
    await until(() => service.complained().includes('waiting for a server'))
    expect(await stop(service.child, signal)).toBe(0)
    await until(() => processesOf(dir).length === 0)
  },
)

/** A service that is making its metadata store. A slow machine may look too late; then another service makes one again. */
async function startedUntilInitdb(): Promise<Service> {
  const isMaking = () => processesOf(dir).some((pid) => commandOf(pid).includes('initdb'))
  for (;;) {
    const service = startService(dir)
    let isSeen = false
    await until(() => {
      isSeen = isMaking()
      return isSeen || isUp(service)
    })
    if (isSeen) return service
    await stop(service.child, 'SIGKILL')
    await until(() => processesOf(dir).length === 0)
    for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

test('a stop in the middle of a first start leaves nothing behind, and the next start makes everything', async () => {
  const first = await startedUntilInitdb()
  expect(await stop(first.child, 'SIGTERM')).toBe(0)
  await until(() => processesOf(dir).length === 0)
  await untilUp(startService(dir))
})

test('a service that is killed while the metadata store is being made takes that work with it, and the next start comes up at once', async () => {
  const first = await startedUntilInitdb()
  await stop(first.child, 'SIGKILL')
  const second = await untilUp(startService(dir))
  expect(await stop(second.child, 'SIGTERM')).toBe(0)
  await untilUp(startService(dir))
  expect((await readdir(join(dir, 'meta'))).filter((name) => name.startsWith('pg.new'))).toEqual([])
})

test('a secret that cannot be used stops the start before a store is opened', async () => {
  await writeFile(join(dir, 'master.key'), '')
  expect(await refused({})).toContain('master.key is empty')
})

test('a start with another master key ends, with the stores closed', async () => {
  const first: Service = await untilUp(startService(dir))
  await stop(first.child, 'SIGTERM')
  expect(await refused({ DENDRO_MASTER_KEY: 'another key altogether, as good as any' })).toContain('is not the one of this deployment')
})

test('a key that the operator gave is not printed, and `recover` prints a new one while the service is stopped', async () => {
  const given = 'an-operator-s-own-key-of-the-first-organization'
  const asking = async (service: Service, key: string) => statusOf(`${service.url}/users`, { 'x-service-api-key': key })
  const first = await untilUp(startService(dir, { DENDRO_BOOTSTRAP_API_KEY: given }))
  expect(await asking(first, given)).toBe(200)
  expect(first.said() + first.complained()).not.toContain(given)
  const early = await ended(startCommand(dir, ['recover']))
  expect([early.status, early.complained]).toEqual([1, expect.stringContaining('is in use by')])
  await stop(first.child, 'SIGTERM')
  expect((await ended(startCommand(dir, ['recover', 'nobody']))).complained).toContain('there is no organization nobody; there are default')
  const recovery = startCommand(dir, ['recover'])
  expect((await ended(recovery)).status).toBe(0)
  const [, key = ''] = /^ +(dk_\S+)$/m.exec(recovery.said()) ?? []
  await until(() => processesOf(dir).length === 0)
  const second = await untilUp(startService(dir))
  expect(await asking(second, key)).toBe(200)
  expect(await asking(second, given)).toBe(200)
})

test('an impossible data directory is reported in one sentence', async () => {
  const file = join(dir, 'a file')
  await writeFile(file, '')
  expect(await refused({}, file)).toContain(`${file} must be a directory but is not`)
  expect(await refused({}, join(file, 'below'))).toContain('must be a directory but is not')
  expect(await refused({}, '/proc/nope/deeper')).toContain('/proc/nope cannot be created')
  const meta = join(dir, 'whole')
  await mkdir(meta)
  await writeFile(join(meta, 'meta'), '')
  expect(await refused({}, meta)).toContain('must be a directory but is not')
})

test.runIf(process.getuid?.() !== 0)('a data directory that belongs to another user is reported in one sentence', async () => {
  const closed = join(dir, 'closed')
  await mkdir(closed)
  await chmod(closed, 0o500)
  expect(await refused({}, join(closed, 'data'))).toContain('no permission for')
})

test('an address that the machine does not have is reported in one sentence', async () => {
  expect(await refused({ DENDRO_HOST: '192.0.2.1' })).toContain('this machine has no address 192.0.2.1; set DENDRO_HOST')
  expect(await refused({ DENDRO_HOST: 'no-such-host.invalid' })).toContain('this machine has no address no-such-host.invalid')
})

/** PostgreSQL's reply to a wrong password on the wire. */
const REFUSAL = Buffer.from('E\0\0\0\x33SFATAL\0C28P01\0Mthe password is not the right one\0\0', 'latin1')

test('a server that is no PostgreSQL of ours is named in one sentence, without its password', async () => {
  expect(await refused({ DENDRO_POSTGRES_URL: 'mysql://user:secret@db/dendro' })).toContain('must look like postgres://')
  const stranger = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(REFUSAL))
  }).listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const address = stranger.address()
  const port = typeof address === 'object' && address ? address.port : 0
  try {
    const said = await refused({ DENDRO_POSTGRES_URL: `postgres://user:secret@127.0.0.1:${port}/dendro` })
    expect(said).toContain(
      `the PostgreSQL server 127.0.0.1:${port} cannot be used: the password is not the right one; check DENDRO_POSTGRES_URL`,
    )
    expect(said).not.toContain('secret')
  } finally {
    stranger.close()
  }
})
