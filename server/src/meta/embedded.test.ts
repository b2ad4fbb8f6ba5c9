import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { copyMadeMeta, testDeps } from './database.fixture.ts'
import { type Meta, openMeta } from './meta.ts'
import { sql } from './sql.ts'

let dataDir: string
const opened: Meta[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dendro-embedded-'))
})
afterEach(async () => {
  for (const meta of opened.splice(0)) await meta.close()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function openStore(dir = dataDir): Promise<Meta> {
  const meta = await openMeta({ dataDir: dir }, testDeps)
  opened.push(meta)
  return meta
}

/** Opens a store whose first start is over. */
async function openMadeStore(): Promise<Meta> {
  await copyMadeMeta(dataDir)
  return openStore()
}

async function closeStore(meta: Meta): Promise<void> {
  opened.splice(opened.indexOf(meta), 1)
  await meta.close()
}

function pidOf(meta: Meta): number {
  const state = meta.server?.state()
  if (state?.kind !== 'up') throw new Error('the server is not up')
  return state.pid
}

/** The ids of all processes that use the store's directory. */
async function postgresIn(dir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0)
  const where = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')))
  return pids.filter((_, n) => where[n] === join(dir, 'meta', 'pg'))
}

const until = (ask: () => Promise<unknown>, expected: unknown) => expect.poll(ask, { interval: 20 }).toEqual(expected)

test('it is durable, checks its pages, and accepts only its own user', async () => {
  const meta = await openStore()
  const show = async (name: string) => (await meta.one<{ value: string }>(sql`select current_setting(${name}) as value`))?.value
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums'])
    expect([name, await show(name)]).toEqual([name, 'on'])
  expect([await show('listen_addresses'), await show('timezone'), await show('unix_socket_permissions')]).toEqual(['', 'UTC', '0700'])
  for (const dir of ['.', 'meta', 'meta/pg', 'meta/run']) expect([dir, (await stat(join(dataDir, dir))).mode & 0o777]).toEqual([dir, 0o700])
})

test('nothing of our environment reaches it', async () => {
  process.env.DENDRO_TEST_SECRET = 'secret-word'
  const meta = await openMadeStore()
  delete process.env.DENDRO_TEST_SECRET
  expect(await readFile(`/proc/${pidOf(meta)}/environ`, 'utf8')).not.toContain('secret-word')
})

test('an interrupted first start is repeated', async () => {
  await mkdir(join(dataDir, 'meta', 'pg.new', 'base'), { recursive: true })
  await writeFile(join(dataDir, 'meta', 'pg.new', 'PG_VERSION'), '18\n')
  const meta = await openStore()
  await meta.ping()
})

test('a second start on the directory is refused with the holder by name, and the first is unharmed', async () => {
  const meta = await openMadeStore()
  await expect(openStore()).rejects.toThrow(`in use by process ${process.pid} `)
  await meta.ping()
  await closeStore(meta)
  await openStore()
})

test('a path too long for a socket gets a short private directory, which is removed on stop', async () => {
  const long = join(dataDir, 'x'.repeat(120))
  const meta = await openStore(long)
  const socketDir = new URL(meta.url).searchParams.get('host') ?? ''
  expect(socketDir.startsWith(tmpdir())).toBe(true)
  expect((await stat(socketDir)).mode & 0o777).toBe(0o700)
  await closeStore(meta)
  await expect(stat(socketDir)).rejects.toThrow('ENOENT')
})

test('a path with commas, quotes and spaces works', async () => {
  const meta = await openStore(join(dataDir, `it's, "odd" $x`))
  await meta.ping()
})

test('a pid file with the id of another process does not prevent the start', async () => {
  await closeStore(await openMadeStore())
  await writeFile(join(dataDir, 'meta', 'pg', 'postmaster.pid'), `${process.pid}\n${join(dataDir, 'meta', 'pg')}\n1\n5432\n\n\n`)
  await writeFile(join(dataDir, 'meta', 'run', '.s.PGSQL.5432.lock'), `${process.pid}\n`)
  await openStore()
})

test('a killed server is restarted with all committed rows', async () => {
  const meta = await openMadeStore()
  await meta.run(sql`insert into settings (name, value) values ('kept', '1')`)
  meta.server?.kill()
  await until(async () => meta.health().status, 'down')
  await until(async () => meta.health().status, 'ok')
  expect(await meta.all(sql`select name from settings`)).toEqual([{ name: 'kept' }])
})

test('cached values stay available while the server is down', async () => {
  const meta = await openMadeStore()
  let isAway = false
  const ask = () => meta.cached('org', 'key', () => meta.all(sql`select 'known' as key`))
  expect(await ask()).toEqual([{ key: 'known' }])
  meta.server?.kill()
  while (!isAway || meta.health().status !== 'ok') {
    if (meta.health().status !== 'ok') isAway = true
    expect(await ask()).toEqual([{ key: 'known' }])
    await new Promise((soon) => setImmediate(soon))
  }
})

test('a server that has stopped answering, all its processes, is ended and started again', async () => {
  const meta = await openMadeStore()
  const stopped = await postgresIn(dataDir)
  for (const pid of stopped) process.kill(pid, 'SIGSTOP')
  await until(async () => meta.health().status, 'down')
  await expect.poll(() => meta.health().status, { interval: 50 }).toBe('ok')
  expect(await meta.all(sql`select 1 as one`)).toEqual([{ one: 1 }])
  expect((await postgresIn(dataDir)).filter((pid) => stopped.includes(pid))).toEqual([])
})

test('stopping leaves no process, no socket and no pid file behind', async () => {
  const meta = await openMadeStore()
  await closeStore(meta)
  expect(await postgresIn(dataDir)).toEqual([])
  expect(await readdir(join(dataDir, 'meta', 'run'))).toEqual([])
  expect(await readdir(join(dataDir, 'meta', 'pg'))).not.toContain('postmaster.pid')
})

test('when the service is killed its server exits too, and the next start works at once', async () => {
  const program = `
    const { openMeta } = await import(${JSON.stringify(join(import.meta.dirname, 'meta.ts'))})
    const { sql } = await import(${JSON.stringify(join(import.meta.dirname, 'sql.ts'))})
    const { testDeps } = await import(${JSON.stringify(join(import.meta.dirname, 'database.fixture.ts'))})
    const meta = await openMeta({ dataDir: process.argv[1] }, testDeps)
    await meta.run(sql\`insert into settings (name, value) values ('kept', '1')\`)
    console.log(meta.server.state().pid)`
  await copyMadeMeta(dataDir)
  for (const order of ['let it leave first', 'start at once']) {
    const service = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(await once(service.stdout, 'data'))
    const gone = once(service, 'exit')
    service.kill('SIGKILL')
    await gone
    if (order === 'let it leave first') await until(() => postgresIn(dataDir), [])
    const meta = await openStore()
    expect(pidOf(meta)).not.toBe(pid)
    expect(await meta.run(sql`delete from settings where name = 'kept'`)).toBe(1)
    await closeStore(meta)
    await until(() => postgresIn(dataDir), [])
  }
})

test('a directory that cannot be opened is left unchanged, and the message explains the restore', async () => {
  await closeStore(await openMadeStore())
  const version = join(dataDir, 'meta', 'pg', 'PG_VERSION')
  await writeFile(version, '17\n')
  await expect(openStore()).rejects.toThrow(/of PostgreSQL 17.*could not be opened.*Nothing was changed.*main\.ts restore$/s)
  await writeFile(version, '18\n')
  await openStore()
})

test.skipIf(process.getuid?.() !== 0)('started by root on the directory of an ordinary user, it runs as that user', async () => {
  await chown(dataDir, 65534, 65534)
  const meta = await openStore()
  expect((await stat(`/proc/${pidOf(meta)}`)).uid).toBe(65534)
  const client = new pg.Client({ connectionString: meta.url })
  await client.connect()
  await client.end()
})

test.skipIf(process.getuid?.() !== 0)(
  'for root without a user namespace or another user, the start prints advice and creates nothing',
  async () => {
    const program = `
    const { openMeta } = await import(${JSON.stringify(join(import.meta.dirname, 'meta.ts'))})
    const { testDeps } = await import(${JSON.stringify(join(import.meta.dirname, 'database.fixture.ts'))})
    await openMeta({ dataDir: process.argv[1] }, testDeps).catch((refusal) => console.log(refusal.message))`
    // A namespace that forbids further namespaces simulates a machine or container that forbids them.
    const forbidding = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    const node = [process.execPath, '--input-type=module', '-e', program, dataDir]
    const service = spawn('/usr/bin/env', ['unshare', '--user', '--map-root-user', 'sh', '-c', forbidding, 'sh', ...node], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await once(service.stdout, 'data')
    expect(String(said)).toMatch(/refuses to run as root, and user namespaces are not allowed here: .*chown -R <user>.*DENDRO_POSTGRES_URL/)
    await expect(stat(join(dataDir, 'meta', 'pg'))).rejects.toThrow('ENOENT')
  },
)
