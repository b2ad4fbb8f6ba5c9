import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Contract, contract } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { olderNode } from './programs/older-node.ts'
import { openTestApp, type TestApp, type TestOrganization } from './support/world.ts'

/** The packages that users install: packed, installed in an empty folder without a network, and run against a service. */

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const node = process.execPath

let app: TestApp
let org: TestOrganization
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dendro-packages-'))
  app = await openTestApp()
  org = await app.newOrganization()
  for (const [home, tarball] of [
    ['cli', 'dendro-cli-0.1.0.tgz'],
    ['clients/typescript', 'dendro-client-0.1.0.tgz'],
  ] as const) {
    await run(node, [join(root, home, 'build.ts')], { cwd: root })
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: join(root, home) })
    await mkdir(join(folder, home), { recursive: true })
    await writeFile(join(folder, home, 'package.json'), '{ "private": true, "type": "module" }\n')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball)], { cwd: join(folder, home) })
  }
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const runtimes: [string, () => Promise<string>][] = [
  ['the Node of the tests', async () => node],
  ['Node 18', async () => join(await olderNode(18), 'node')],
]

describe('the packed command line', () => {
  const bin = () => join(folder, 'cli', 'node_modules', '.bin', 'dendro')
  const env = () => ({ PATH: process.env.PATH, HOME: folder, DENDRO_URL: app.url, DENDRO_API_KEY: org.key })

  /** Runs the installed program. It gets `input` on standard input. */
  async function dendro(runtime: string, words: string[], input = ''): Promise<{ status: number | null; out: string; err: string }> {
    const child = spawn(runtime, [bin(), ...words], { env: env(), stdio: 'pipe' })
    child.stdin.end(input)
    const [out, err] = [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await Array.fromAsync(stream)).toString())
    const [status] = (await once(child, 'exit')) as [number | null]
    return { status, out: (await out) ?? '', err: (await err) ?? '' }
  }

  test.each(runtimes)('exports the configuration and applies it, under %s', async (_, runtimeOf) => {
    const runtime = await runtimeOf()
    const exported = await dendro(runtime, ['export-config', '--only', 'datasets'])
    expect(exported).toMatchObject({ status: 0, out: expect.stringContaining('kind: dataset') })
    const changed = `${exported.out}---\nkind: dataset\ncollection: packed\ndataset: made-by-${runtime === node ? 'this' : 'older'}\n`
    expect(await dendro(runtime, ['apply', '-f', '-', '--yes'], changed)).toMatchObject({
      status: 0,
      err: expect.stringContaining('1 change made'),
    })
    expect(await dendro(runtime, ['apply', '-f', '-', '--dry-run'], changed)).toMatchObject({ status: 0, out: '' })
  })

  test('has no dependencies, and contains every command of the sources', async () => {
    expect(await readdir(join(folder, 'cli', 'node_modules', '@dendro'))).toEqual(['cli'])
    const manifest = JSON.parse(await readFile(join(folder, 'cli', 'node_modules', '@dendro', 'cli', 'package.json'), 'utf8'))
    expect(manifest.dependencies).toBeUndefined()
    const { stdout } = await run(node, [join(root, 'cli', 'dendro.mjs'), '--help'])
    expect((await dendro(node, ['--help'])).out).toBe(stdout)
    expect((await dendro(node, ['--version'])).out).toBe(`${manifest.version}\n`)
  })

  test('uses no function that Node 18 does not have', async () => {
    const newer =
      /\.(toSorted|toReversed|toSpliced|groupBy|withResolvers|fromAsync|symmetricDifference|isSubsetOf|isWellFormed)\(|\bstyleText\b/
    for (const file of ['cli/dist/main.js', 'clients/typescript/dist/client.js']) {
      expect(
        (await readFile(join(root, file), 'utf8')).split('\n').filter((line) => newer.test(line)),
        file,
      ).toEqual([])
    }
  })

  test.each(runtimes)('sends, finds and shows events under %s', async (name, runtimeOf) => {
    const runtime = await runtimeOf()
    const dataset = name.replaceAll(' ', '-')
    const sent = await dendro(runtime, ['ingest', '-f', '-', '--dataset', dataset], '{"message":"one"}\n{"message":"two"}\n')
    expect(sent).toMatchObject({ status: 0, err: expect.stringContaining('2 events accepted') })
    const found = await dendro(runtime, ['search', 'two', '-d', dataset, '--output', 'ndjson'])
    expect(found).toMatchObject({ status: 0, out: expect.stringMatching(/^\{.*"@sequence":\d{17,}.*"message":"two".*\}\n$/) })
    // The sequence number has more digits than a double, so this fails unless it stayed exact.
    expect((await dendro(runtime, ['context', '-'], found.out)).out).toMatch(/^> .* two$/m)
    const lost = await dendro(runtime, ['datasets', 'list', '--url', 'http://127.0.0.1:9'])
    expect(lost).toEqual({ status: 1, out: '', err: expect.stringMatching(/^dendro: no answer from [^\n]*\n$/) })
  })

  test('ends cleanly when its reader closes the pipe', async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `{"message":"line ${at} ${'x'.repeat(100)}"}`)
    await dendro(node, ['ingest', '-f', '-', '--dataset', 'pipe'], lines.join('\n'))
    const script = `set -o pipefail; "${node}" "${bin()}" search -d pipe -n 3000 -q | head -1`
    const { stdout, stderr } = await run('bash', ['-c', script], { env: env() })
    expect({ lines: stdout.split('\n').length, stderr }).toEqual({ lines: 2, stderr: '' })
  })

  test('Ctrl-C ends a live tail, and sending from standard input, without a message', async () => {
    const tail = spawn(node, [bin(), 'tail', '-f', '-d', 'default.pipe', '-n', '1'], { env: env(), stdio: ['ignore', 'pipe', 'pipe'] })
    await once(tail.stdout, 'data')
    const sender = spawn(node, [bin(), 'ingest', '-f', '-', '--dataset', 'typed'], { env: env(), stdio: 'pipe' })
    sender.stdin.write('typed so far\n')
    const find = () =>
      org.ask<{ totals?: { count: number } }>('POST', '/search', { body: { from: ['default.typed'], select: ['count(*)'] } })
    await expect.poll(async () => (await find()).body.totals?.count).toBe(1)
    for (const child of [tail, sender]) {
      const err = Array.fromAsync(child.stderr)
      child.kill('SIGINT')
      expect(await once(child, 'exit')).toEqual([130, null])
      expect(Buffer.concat(await err).toString()).toBe('')
    }
  })
})

describe('the packed client', () => {
  const home = () => join(folder, 'clients/typescript')

  test('type-checks the calls of a program', async () => {
    const program = `import { ApiFailure, createClient, type DendroClient } from '@dendro/client'
const client: DendroClient = createClient({ baseUrl: '', key: '' })
export const made: Promise<{ id: string }> = client.datasets.create({ body: { collection: 'shop', dataset: 'web' } })
export const count: Promise<number | bigint> = client.search.run({ body: { select: ['count(*)'] } }).then(({ totals }) => totals.count)
export const status = (thrown: unknown): number | undefined => (thrown instanceof ApiFailure ? thrown.status : undefined)
// @ts-expect-error the body is required
export const withoutBody = client.datasets.create()
// @ts-expect-error there is no such member
export const withUnknown = client.datasets.create({ body: { colection: 'shop' } })
// @ts-expect-error a monitor has no such status
export const wrongStatus = client.monitors.list().then(({ monitors }) => monitors.filter(({ status }) => status === 'FINE'))
`
    await writeFile(join(home(), 'program.mts'), program)
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--lib', 'esnext,dom']
    const checked = await run(node, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'program.mts'], { cwd: home() }).catch(
      (failed: { stdout: string }) => failed,
    )
    expect(checked.stdout).toBe('')
  })

  test.each(runtimes)('calls the service under %s', async (_, runtimeOf) => {
    const runtime = await runtimeOf()
    const program = `import { ApiFailure, createClient } from '@dendro/client'
const client = createClient({ baseUrl: process.env.DENDRO_URL, key: process.env.DENDRO_API_KEY })
const failed = await client.datasets.get({ params: { datasetId: '00000000-0000-4000-8000-000000000000' } }).catch((thrown) => thrown)
await client.ingestion.sendTo({ params: { collection: 'client', dataset: 'web' }, body: '{"message":"from the client"}' })
const { events } = await client.search.run({ body: { from: ['client.web'], select: ['*'], limit: 1 }, repeatable: true })
const { service_id, timestamp, sequence } = events[0].metadata
const around = await client.context.get({ query: { from: [service_id], timestamp, sequence, limit: 1 } })
console.log(JSON.stringify({
  nouns: Object.fromEntries(Object.entries(client).map(([noun, verbs]) => [noun, Object.keys(verbs)])),
  failed: failed instanceof ApiFailure ? failed.status : String(failed),
  sequence: typeof sequence,
  same: around.events[0].metadata.sequence === sequence,
}))
`
    await writeFile(join(home(), 'program.mjs'), program)
    const { stdout } = await run(runtime, ['program.mjs'], { cwd: home(), env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key } })
    const nouns = Object.fromEntries(Object.entries(contract as Contract).map(([noun, group]) => [noun, Object.keys(group)]))
    expect(JSON.parse(stdout)).toEqual({ nouns, failed: 404, sequence: 'bigint', same: true })
  })

  test('declares a method for every endpoint', async () => {
    const types = await readFile(join(home(), 'node_modules/@dendro/client/dist/index.d.ts'), 'utf8')
    const endpoints = Object.values(contract as Contract).flatMap((group) => Object.values(group))
    const lost = endpoints.filter(({ method, path, summary }) => !types.includes(`${summary}. \`${method} ${path}\``))
    expect(lost.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })
})

describe('the packed log handlers', () => {
  test('come from the one command of their README, in an empty folder, and send events', async () => {
    const readme = await readFile(join(root, 'clients/javascript/README.md'), 'utf8')
    const command = /^npm pack [^#\n]*/m.exec(readme)?.[0].trim() ?? ''
    expect(await readFile(join(root, 'docs/senders.md'), 'utf8')).toContain(command)
    const home = join(folder, 'logs')
    await mkdir(home)
    await writeFile(join(home, 'package.json'), '{ "private": true, "type": "module" }\n')
    await run('npm', [...command.split(' ').slice(1), '--pack-destination', home], { cwd: root })
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', './dendro-logs-0.1.0.tgz'], { cwd: home })
    const program = `import { BatchSender } from '@dendro/logs'
await import('@dendro/logs/pino')
const sender = new BatchSender({ dataset: 'handler' })
sender.send(JSON.stringify({ message: 'from the package' }))
console.log(await sender.flush())
`
    await writeFile(join(home, 'program.mjs'), program)
    for (const [, runtimeOf] of runtimes) {
      const env = { DENDRO_URL: app.url, DENDRO_API_KEY: org.key }
      expect((await run(await runtimeOf(), ['program.mjs'], { cwd: home, env })).stdout).toBe('true\n')
    }
    const found = await org.ask<{ totals: { count: number } }>('POST', '/search', {
      body: { from: ['default.handler'], select: ['count(*)'] },
    })
    expect(found.body.totals.count).toBe(runtimes.length)
  })
})

test('files that pip builds in the repository are ignored', async () => {
  const built = ['clients/python/build/lib/dendro/api.py', 'clients/python/dendro.egg-info/PKG-INFO']
  const { stdout } = await run('git', ['-c', 'safe.directory=*', 'check-ignore', '--no-index', ...built], { cwd: root })
  expect(stdout.trim().split('\n')).toEqual(built)
})
