import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chown, readdir, readFile, readlink, stat, utimes } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { addEvents, ask, linesOf, MEMORY_BYTES, makeEngines, pidOf, testDeps } from './engine.fixture.ts'
import { codeCache, freePort, openEngine, storeDir } from './engine.ts'
import { ALLOCATOR } from './engine-config.ts'
import { findEngineLibrary } from './engine-library.ts'
import type { EventStore } from './events.ts'

const engines = makeEngines()
afterEach(engines.cleanUp)

const until = (read: () => Promise<unknown>, expected: unknown) => expect.poll(read, { interval: 20 }).toEqual(expected)

/** The processes that use an engine directory. */
async function enginesIn(dataDir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0)
  const args = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((_, n) => args[n]?.includes(`--config-file=${dataDir}/`))
}

/** The configuration file of an engine process. */
const configOf = async (pid: number): Promise<string> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8')).match(/--config-file=([^\0]*)/)?.[1] ?? ''

test('it starts, stores, stops, and has everything when it starts again', async () => {
  const dir = await engines.newDir()
  const first = await engines.open(dir)
  expect(first.health()).toEqual({ status: 'ok' })
  await first.ping()
  await addEvents(first, 1, ['one', 'two'])
  await first.close()
  expect(await enginesIn(dir)).toEqual([])
  expect(first.health()).toEqual({ status: 'down', reason: 'the event engine is stopped' })
  await expect(first.ping()).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
  expect(await linesOf((await engines.open(dir)).writer)).toEqual(['one', 'two'])
})

test('only the owner can read the files of the engine, and passwords are not in files, arguments or environment', async () => {
  const dir = await engines.newDir()
  const store = await engines.open(dir)
  expect((await stat(join(dir, 'events'))).mode & 0o777).toBe(0o700)
  const passwords = decodeURIComponent(store.url).match(/(?<=writer:|reader:)[\w-]{43}/g) ?? []
  expect(passwords.length).toBe(2)
  const process = `/proc/${pidOf(store)}`
  const config = await configOf(pidOf(store))
  const places = [config, join(dirname(config), 'users.xml'), `${process}/cmdline`, `${process}/environ`]
  for (const file of places.slice(0, 2)) expect((await stat(file)).mode & 0o777).toBe(0o600)
  for (const place of places) {
    const text = await readFile(place, 'utf8')
    for (const password of passwords) expect(text).not.toContain(password)
  }
  const environment = [['TZ', 'UTC'], ...Object.entries({ ...ALLOCATOR, ...codeCache() })].map(([name, value]) => `${name}=${value}\0`)
  expect(await readFile(`${process}/environ`, 'utf8')).toBe(environment.join(''))
})

test.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
  'started by root, it drops all capabilities that it does not need',
  async () => {
    const rightsOf = async (store: EventStore) => {
      const status = await readFile(`/proc/${pidOf(store)}/status`, 'utf8')
      return ['CapEff', 'CapPrm', 'CapInh', 'CapBnd', 'NoNewPrivs'].map((name) => new RegExp(`^${name}:\\s+(\\w+)$`, 'm').exec(status)?.[1])
    }
    const own = await engines.open(await engines.madeDir())
    expect(await rightsOf(own)).toEqual([...Array(4).fill('0000000000000000'), '1'])
    const dir = await engines.newDir()
    await chown(dir, 65_534, 65_534)
    const foreign = await engines.open(dir)
    await addEvents(foreign, 1, ['one'])
    // chown, dac_override and fowner: the engine needs only the files of other users.
    const files = '000000000000000b'
    expect(await rightsOf(foreign)).toEqual([files, files, '0000000000000000', files, '1'])
  },
)

test('it listens only on loopback', async () => {
  const store = await engines.open(await engines.madeDir())
  const sockets = new Set(
    await Promise.all((await readdir(`/proc/${pidOf(store)}/fd`)).map((fd) => readlink(`/proc/${pidOf(store)}/fd/${fd}`).catch(() => ''))),
  )
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')))
  const listening = tables
    .flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
    .filter((columns) => columns[3] === '0A' && sockets.has(`socket:[${columns[9]}]`))
    .map((columns) => columns[1]?.split(':')[0])
  expect(listening).toEqual(['0100007F'])
})

test('a killed engine restarts with its data, new passwords and a new port', async () => {
  const store = await engines.open(await engines.madeDir())
  await addEvents(store, 1, ['before'])
  const [oldUrl, oldPid, oldChanges] = [store.url, pidOf(store), store.changes?.now() ?? 0]
  store.engine?.kill()
  await until(async () => store.engine?.state().kind, 'down')
  expect(store.health()).toMatchObject({ status: 'down', reason: 'the event engine ended (status SIGKILL) and is being restarted' })
  await until(async () => store.health(), { status: 'ok' })
  expect(await linesOf(store.writer)).toEqual(['before'])
  expect(pidOf(store)).not.toBe(oldPid)
  expect(store.url).not.toBe(oldUrl)
  // It may have left out damaged parts.
  expect(store.changes?.areUnchanged(['any'], { fromMs: 0, toMs: 1 }, oldChanges)).toBe(false)
  await addEvents(store, 1, ['after'])
  expect(await linesOf(store.reader, '1')).toEqual(['after', 'before'])
})

test('an engine that hangs is killed and restarted', async () => {
  const store = await engines.open(await engines.madeDir())
  const pid = pidOf(store)
  process.kill(pid, 'SIGSTOP')
  await expect.poll(() => store.engine?.state(), { interval: 100 }).toMatchObject({ kind: 'up', restarts: 1 })
  expect(pidOf(store)).not.toBe(pid)
  await store.ping()
})

test('a read that wants more memory than it may have is refused, and the engine lives', async () => {
  const store = await engines.open(await engines.madeDir())
  const pid = pidOf(store)
  // A single aggregation state cannot spill to disk, unlike many groups.
  const greedy = 'select length(groupArray(number)) from numbers(1e9)'
  await expect(ask(store.reader, greedy)).rejects.toThrow(/memory limit exceeded/i)
  await store.ping()
  expect(pidOf(store)).toBe(pid)
})

test('reads that are left at any moment do not end the engine', async () => {
  const store = await engines.open(await engines.madeDir())
  const pid = pidOf(store)
  const read = async (leaveMs: number) => {
    const query = `select repeat('x', 1000) as text from numbers(${leaveMs % 2 === 0 ? 300 : 300_000})`
    const answer = await store.reader.query({ query, format: 'JSONEachRow', abort_signal: AbortSignal.timeout(leaveMs + 1) })
    const stream = answer.stream()
    if (leaveMs % 3 === 0) stream.destroy()
    else for await (const rows of stream) if (rows.length > 200) break
  }
  for (let leaveMs = 0; leaveMs < 30; leaveMs += 1)
    await Promise.all([read(leaveMs), read(leaveMs)].map((one) => one.catch(() => undefined)))
  await store.ping()
  expect(pidOf(store)).toBe(pid)
})

test('when its parent is killed it exits, and the next start has the data', async () => {
  const dir = await engines.madeDir()
  const program = `
    import { addEvents, makeEngines } from ${JSON.stringify(join(import.meta.dirname, 'engine.fixture.ts'))}
    const store = await makeEngines().open(${JSON.stringify(dir)})
    await addEvents(store, 1, ['kept'])
    process.stdout.write('stored')`
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(parent.stdout, 'data')
  expect((await enginesIn(dir)).length).toBe(1)
  parent.kill('SIGKILL')
  await until(() => enginesIn(dir), [])
  expect(await linesOf((await engines.open(dir)).writer)).toEqual(['kept'])
})

test('an engine that outlives its killed service does not read the files of the next start', async () => {
  while (!(await isOutlived(await engines.madeDir())));
})

/** Kills a service while its engine starts, and starts the next; false where an engine could not be stopped in time. */
async function isOutlived(dir: string): Promise<boolean> {
  const program = `
    import { makeEngines } from ${JSON.stringify(join(import.meta.dirname, 'engine.fixture.ts'))}
    await makeEngines().open(${JSON.stringify(dir)})`
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: ['ignore', 'ignore', 'inherit'] })
  const orphan = await stopNext(dir, [])
  parent.kill('SIGKILL')
  if (await hasLoaded(orphan)) {
    process.kill(orphan, 'SIGKILL')
    return false
  }
  const orphanConfig = await configOf(orphan)
  const opened = engines.open(dir)
  const ours = await stopNext(dir, [orphan])
  const isInTime = !(await hasLoaded(ours))
  expect(await configOf(ours)).not.toBe(orphanConfig)
  process.kill(orphan, 'SIGCONT')
  await until(async () => (await enginesIn(dir)).includes(orphan), false)
  process.kill(ours, 'SIGCONT')
  const store = await opened
  expect(pidOf(store)).toBe(ours)
  await addEvents(store, 1, ['fine'])
  expect(await linesOf(store.writer)).toEqual(['fine'])
  return isInTime
}

/** The next engine that starts on a directory, stopped. */
async function stopNext(dataDir: string, known: readonly number[]): Promise<number> {
  for (;;) {
    const found = (await enginesIn(dataDir)).find((pid) => !known.includes(pid))
    if (found === undefined) continue
    process.kill(found, 'SIGSTOP')
    return found
  }
}

/** An engine that has loaded its library may have read its files and locked its directory. */
const hasLoaded = async (pid: number): Promise<boolean> =>
  (await readFile(`/proc/${pid}/maps`, 'utf8')).includes(basename(findEngineLibrary()))

test('files of earlier starts are removed when no engine needs them, and those of a concurrent start stay', async () => {
  const dir = await engines.madeDir()
  const store = await engines.open(dir)
  const config = await configOf(pidOf(store))
  await store.close()
  const again = await engines.open(dir)
  await access(config)
  await again.close()
  const old = new Date(Date.now() - 3_600_000)
  await utimes(dirname(config), old, old)
  await engines.open(dir)
  await expect(access(config)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a start waits for an engine that is still leaving', async () => {
  const dir = await engines.madeDir()
  const first = await engines.open(dir)
  // Time runs slowly for the second one, so that its wait for the lock is long enough for a slow machine.
  const clock = { ...testDeps.clock, monotonicMs: () => testDeps.clock.monotonicMs() / 30 }
  const second = engines.open(dir, { ...testDeps, clock })
  await testDeps.clock.sleep(1_000)
  await first.close()
  expect((await second).health()).toEqual({ status: 'ok' })
})

test('a second engine on the same directory is rejected with an explanation, and the first keeps running', async () => {
  const dir = await engines.madeDir()
  const first = await engines.open(dir)
  await expect(openEngine({ dataDir: dir, memoryBytes: MEMORY_BYTES, lockWaitMs: 0 }, testDeps)).rejects.toThrow(
    `another server is running on ${dir}/events; stop it or choose another data directory`,
  )
  expect(await enginesIn(dir)).toEqual([pidOf(first)])
  await addEvents(first, 1, ['unharmed'])
  expect(await linesOf(first.writer)).toEqual(['unharmed'])
})

test('a port that another program took meanwhile is not the end of a start', async () => {
  const { server, port } = await listen()
  const offered: number[] = []
  const engine = await openEngine(
    {
      dataDir: await engines.newDir(),
      memoryBytes: MEMORY_BYTES,
      freePort: async () => {
        offered.push(offered.length < 2 ? port : await freePort())
        return offered.at(-1) ?? port
      },
    },
    testDeps,
  )
  expect([offered.length, engine.child.state().kind]).toEqual([3, 'up'])
  await engine.close()
  server.close()
})

test('another program that answers on the port is not mistaken for the engine', async () => {
  const { server, port } = await listen('HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"id":"mine"}')
  await expect(
    openEngine({ dataDir: await engines.newDir(), memoryBytes: MEMORY_BYTES, freePort: async () => port }, testDeps),
  ).rejects.toThrow('the event engine found no free port on 127.0.0.1')
  server.close()
})

test('unauthenticated traffic on its port does not end it', async () => {
  const store = await engines.open(await engines.madeDir())
  const pid = pidOf(store)
  const { port } = new URL(store.url)
  for (const bytes of [
    'GARBAGE\r\n\r\n',
    'GET / HTTP/1.1\r\n',
    `POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n${'x'.repeat(1_000)}`,
    '\0'.repeat(100_000),
  ]) {
    await fetchRaw(Number(port), bytes)
  }
  await store.ping()
  expect(pidOf(store)).toBe(pid)
})

test('closing the connection ends a read', async () => {
  const store = await engines.open(await engines.madeDir())
  const leaving = new AbortController()
  const query = store.reader.query({ query: 'select count() from numbers(1e13) settings max_threads = 1', abort_signal: leaving.signal })
  query.catch(() => undefined)
  const running = () => readsOf(store)
  await until(running, 1)
  leaving.abort()
  await expect(query).rejects.toThrow()
  await until(running, 0)
})

test('the error of a failed start contains the cause', async () => {
  const dir = await engines.madeDir()
  const store = await engines.open(dir)
  await store.close()
  const { writeFile } = await import('node:fs/promises')
  await writeFile(join(storeDir(dir), 'metadata', 'dendro.sql'), 'not a statement')
  await expect(engines.open(dir)).rejects.toThrow(/the event engine did not start on .*Syntax error/s)
})

async function readsOf(store: EventStore): Promise<number> {
  const [row] = await ask<{ reads: number }>(store.writer, "select toUInt32(count()) as reads from system.processes where user = 'reader'")
  return row?.reads ?? -1
}

async function listen(answer?: string): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(answer ?? '')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { server, port: address.port }
}

async function fetchRaw(port: number, bytes: string): Promise<void> {
  const { connect } = await import('node:net')
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(bytes)
  socket.setTimeout(200, () => socket.destroy())
  await once(socket, 'close')
}
