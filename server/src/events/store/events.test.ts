import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Secret } from '../../kernel/secret.ts'
import { formatAddress, parseAddress } from './address.ts'
import { addEvents, linesOf, makeEngines, pidOf, testDeps } from './engine.fixture.ts'
import { storeDir } from './engine.ts'
import { openEventStore } from './events.ts'

const engines = makeEngines()
afterEach(engines.cleanUp)

test('an external server is used in the same way', async () => {
  const engine = await engines.open(await engines.madeDir())
  const store = await openEventStore({ url: engine.url, dataDir: 'not used', memoryBytes: 0 }, testDeps)
  expect([store.engine, store.health(), store.cluster]).toEqual([undefined, { status: 'ok' }, undefined])
  await store.ping()
  await addEvents(store, 1, ['here'])
  expect(await linesOf(store.reader, '1')).toEqual(['here'])
  expect(await linesOf(store.reader)).toEqual([])
  await store.close()
  await engine.ping()
})

test('without a login for reading, the writer reads and may not write', async () => {
  const engine = await engines.open(await engines.madeDir())
  const url = formatAddress({ ...parseAddress(engine.url), reader: undefined })
  const store = await openEventStore({ url, dataDir: 'not used', memoryBytes: 0 }, testDeps)
  await addEvents(store, 1, ['here'])
  expect(await linesOf(store.reader)).toEqual(['here'])
  await expect(store.reader.command({ query: 'truncate table events_s' })).rejects.toThrow('readonly')
  await store.close()
})

test('a wrong password fails at once and is not repeated in the error', async () => {
  const engine = await engines.open(await engines.madeDir())
  const { writer, ...address } = parseAddress(engine.url)
  const url = formatAddress({ ...address, writer: { ...writer, password: new Secret('wrong-secret') } })
  const opening = openEventStore({ url, dataDir: 'not used', memoryBytes: 0 }, testDeps)
  await expect(opening).rejects.toThrow(
    `the event store at ${address.url} refuses this user or password (AUTHENTICATION_FAILED); check DENDRO_CLICKHOUSE_URL`,
  )
})

test('outages of an external server show in the health', async () => {
  const engine = await engines.open(await engines.madeDir())
  const store = await openEventStore({ url: engine.url, dataDir: 'not used', memoryBytes: 0 }, testDeps)
  await engine.close()
  await expect.poll(() => store.health().status, { interval: 100 }).toBe('down')
  expect(store.health()).toMatchObject({ reason: `the event store at ${parseAddress(engine.url).url} does not answer` })
  await expect(store.ping()).rejects.toMatchObject({ status: 503 })
  await store.close()
})

test('a start that was killed at any point is completed by the next', async () => {
  const program = `
    import { openEventStore } from ${JSON.stringify(join(import.meta.dirname, 'events.ts'))}
    import { testDeps } from ${JSON.stringify(join(import.meta.dirname, 'engine.fixture.ts'))}
    process.stdout.write('on')
    await openEventStore({ dataDir: process.argv[1], memoryBytes: ${2 ** 30} }, testDeps)`
  for (const waitMs of [50, 100, 150, 200, 250, 300, 350]) {
    const dir = await engines.newDir()
    const starting = spawn(process.execPath, ['--input-type=module-typescript', '-e', program, dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(starting.stdout, 'data')
    await testDeps.clock.sleep(waitMs)
    starting.kill('SIGKILL')
    const store = await engines.open(dir)
    await addEvents(store, 1, ['fine'])
    expect([waitMs, await linesOf(store.writer)]).toEqual([waitMs, ['fine']])
    await store.close()
  }
})

test('a first start whose files a power cut left empty is repeated', async () => {
  const dir = await engines.newDir()
  await (await engines.open(dir)).close()
  await rm(join(dir, 'events/made'))
  for (const file of await definitionsIn(dir)) await truncate(file)
  const store = await engines.open(dir)
  expect(await linesOf(store.writer)).toEqual([])
  await access(join(dir, 'events/made'))
})

test('after a completed first start a broken store is never reset', async () => {
  const dir = await engines.madeDir()
  await (await engines.open(dir)).close()
  const [first = ''] = await definitionsIn(dir)
  await truncate(first)
  const before = await fingerprint(dir)
  await expect(engines.open(dir)).rejects.toThrow('the event engine did not start')
  expect(await fingerprint(dir)).toBe(before)
})

test('a directory with rows is not reset either, even without the mark of the first start', async () => {
  const dir = await engines.madeDir()
  const store = await engines.open(dir)
  await addEvents(store, 1, ['precious'])
  await store.close()
  await rm(join(dir, 'events/made'))
  const [first = ''] = await definitionsIn(dir)
  await truncate(first)
  const before = await fingerprint(dir)
  await expect(engines.open(dir)).rejects.toThrow('the event engine did not start')
  expect(await fingerprint(dir)).toBe(before)
})

test('damaged parts that the engine detached are reported at the next start', async () => {
  const dir = await engines.madeDir()
  const store = await engines.open(dir)
  await addEvents(store, 1, ['lost'])
  await addEvents(store, 1, ['kept'])
  process.kill(pidOf(store), 'SIGKILL')
  await store.close()
  const [part = ''] = await filesIn(dir, (path) => /\d{8}_1_1_0\/data\.bin$/.test(path))
  await truncate(part, 10)
  const said: unknown[] = []
  const log = { ...testDeps.log, warn: (...line: unknown[]) => void said.push(line), child: () => testDeps.log } as typeof testDeps.log
  const again = await engines.open(dir, { ...testDeps, log })
  await expect
    .poll(() => said)
    .toContainEqual([{ table: 'events_s', reason: 'broken-on-start', parts: 1 }, 'the event engine detached damaged parts'])
  expect(await linesOf(again.writer)).toEqual(['kept'])
})

test('a second start does not disturb an engine that is still in its first start', async () => {
  const dir = await engines.madeDir()
  const first = await engines.open(dir)
  await rm(join(dir, 'events/made'))
  // The second clock runs fast, so that its wait for the lock is short.
  const clock = { ...testDeps.clock, monotonicMs: () => testDeps.clock.monotonicMs() * 20 }
  await expect(engines.open(dir, { ...testDeps, clock })).rejects.toThrow('another server is running on')
  await addEvents(first, 1, ['unharmed'])
  expect(await linesOf(first.writer)).toEqual(['unharmed'])
})

test('a directory that cannot be written is refused with the reason', async () => {
  const dir = await engines.newDir()
  await mkdir(join(dir, 'events'))
  await writeFile(join(dir, 'events/store'), 'a file, not a directory')
  await expect(engines.open(dir)).rejects.toThrow(/the event engine did not start on .*\/events: .*EEXIST/)
})

const definitionsIn = (dir: string) => filesIn(dir, (path) => path.endsWith('.sql') && !path.includes('/data'))

async function filesIn(dir: string, wanted: (path: string) => boolean): Promise<string[]> {
  const names = await readdir(storeDir(dir), { recursive: true })
  return names
    .map((name) => join(storeDir(dir), name))
    .filter(wanted)
    .sort()
}

/** A hash that changes with any file name in the store. */
async function fingerprint(dir: string): Promise<string> {
  const names = (await readdir(storeDir(dir), { recursive: true })).filter((name) => !/^(status|tmp|dynamic)/.test(name)).sort()
  return createHash('sha256').update(names.join('\n')).digest('hex')
}
