import { chmod, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { formatAddress, parseAddress } from './address.ts'
import { diagnoseEvents } from './doctor.ts'
import { addEvents, MEMORY_BYTES, makeEngines, testDeps } from './engine.fixture.ts'

const engines = makeEngines()
afterEach(engines.cleanUp)

const diagnose = (dataDir: string, url?: string) => diagnoseEvents({ dataDir, url, memoryBytes: MEMORY_BYTES }, testDeps)

test('before the first start everything is checked and nothing is left behind', async () => {
  const dir = await engines.newDir()
  const findings = await diagnose(join(dir, 'data'))
  expect(findings.filter(({ ok }) => !ok)).toEqual([])
  expect(findings.map(({ what }) => what)).toEqual([
    expect.stringContaining('the event engine is installed for'),
    `${dir} can be written`,
    expect.stringMatching(/ are free for /),
    expect.stringMatching(/^the event engine starts and answers, version \d+\./),
  ])
  expect(await readdir(dir)).toEqual([])
})

test('a stopped store is opened, checked and closed', async () => {
  const dir = await engines.madeDir()
  await (await engines.open(dir)).close()
  const findings = await diagnose(dir)
  expect(findings.filter(({ ok }) => !ok)).toEqual([])
  expect(findings.map(({ what }) => what)).toContain('its tables are up to date')
  await (await engines.open(dir)).ping()
})

test('a running store is left alone', async () => {
  const dir = await engines.madeDir()
  const store = await engines.open(dir)
  expect((await diagnose(dir)).at(-1)).toEqual({
    ok: true,
    what: `the event engine is running on ${dir}/events: stop the service to look at its tables`,
  })
  await store.ping()
})

test('a directory that others can read is reported with advice', async () => {
  const dir = await engines.madeDir()
  await (await engines.open(dir)).close()
  await chmod(join(dir, 'events'), 0o755)
  expect(await diagnose(dir)).toContainEqual({
    ok: false,
    what: `${dir}/events is open to other users of this machine`,
    advice: `chmod 700 ${dir}/events`,
  })
  expect((await stat(join(dir, 'events'))).mode & 0o777).toBe(0o755)
})

test('an engine that does not start is reported with its message', async () => {
  const dir = await engines.madeDir()
  await (await engines.open(dir)).close()
  await rm(join(dir, 'events/store/metadata/dendro.sql'))
  const { writeFile } = await import('node:fs/promises')
  await writeFile(join(dir, 'events/store/metadata/dendro.sql'), '')
  expect((await diagnose(dir)).at(-1)).toMatchObject({ ok: false, what: expect.stringContaining('the event engine did not start on') })
})

test('an external server is checked', async () => {
  const store = await engines.open(await engines.madeDir())
  await addEvents(store, 1, ['x'])
  const findings = await diagnose('not used', store.url)
  expect(findings.filter(({ ok }) => !ok)).toEqual([])
  expect(findings.map(({ what }) => what)).toEqual([
    expect.stringMatching(/^the event store at http:\/\/127\.0\.0\.1:\d+ answers, version/),
    expect.stringMatching(/ are free on the disk of the event store$/),
    'its tables are up to date',
    'the reader sees nothing unless its query names the organization',
  ])
})

test('a reader that sees every organization is reported', async () => {
  const store = await engines.open(await engines.madeDir())
  await addEvents(store, 1, ['x'])
  const address = parseAddress(store.url)
  const url = formatAddress({ ...address, reader: address.writer })
  expect((await diagnose('not used', url)).at(-1)).toMatchObject({ ok: false, what: expect.stringContaining('the reader sees rows') })
})

test.each([
  ['http://writer:secret@127.0.0.1:9/dendro', /^the event store at http:\/\/127\.0\.0\.1:9 does not answer: .*ECONNREFUSED/],
  ['ftp://writer:secret@127.0.0.1/dendro', /must begin with http/],
])('the address %s is reported as invalid, without its password', async (url, what) => {
  const findings = await diagnose('not used', url)
  expect(findings).toEqual([{ ok: false, what: expect.stringMatching(what), advice: expect.stringContaining('DENDRO_CLICKHOUSE_URL') }])
  expect(JSON.stringify(findings)).not.toContain('secret')
})
