import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contract, contract } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../test/support/world.ts'
import { capturingTerminal, type Ran, runCaptured } from './command-runner.fixture.ts'
import { show } from './output.ts'
import { programFor } from './program.ts'

let app: TestApp
let org: TestOrganization
let folder: string
beforeAll(async () => {
  // Separate metadata: the health of the deployment also includes monitors that other tests leave unevaluated.
  app = await openTestApp({}, () => [])
  org = await app.newOrganization()
  folder = await mkdtemp(join(tmpdir(), 'dendro-cli-'))
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/** Runs one command line against the test service. */
const dendro = (words: string[], given: Parameters<typeof runCaptured>[1] = {}): Promise<Ran> =>
  runCaptured(words, { ...given, env: { XDG_CONFIG_HOME: folder, ...(given.env ?? { DENDRO_URL: app.url, DENDRO_API_KEY: org.key }) } })

const json = <T>(ran: Ran): T => JSON.parse(ran.out)

test('a record is made from options, listed as a table, read by its id and removed', async () => {
  const made = await dendro([
    'datasets',
    'create',
    '--collection',
    'shop',
    '--dataset',
    'web',
    '--tags',
    'env=prod',
    '--tags',
    'a=b=c',
    '--output',
    'json',
  ])
  expect(made).toMatchObject({ status: 0, err: '' })
  const { id, tags } = json<{ id: string; tags: object }>(made)
  expect(tags).toEqual({ env: 'prod', a: 'b=c' })
  const listed = await dendro(['datasets', 'list'])
  expect(listed.out).toMatch(/^ID +COLLECTION +DATASET/)
  expect(listed.out).toMatch(new RegExp(`^${id}  +shop +web .*a=b=c env=prod|^${id}  +shop +web .*env=prod a=b=c`, 'm'))
  expect((await dendro(['datasets', 'get', id])).out).toMatch(/^collection +shop$/m)
  expect(await dendro(['datasets', 'remove', id])).toEqual({ status: 0, out: '', err: '' })
  expect((await dendro(['datasets', 'get', id])).status).toBe(1)
})

test('a list is printed as one JSON object per line when the output is not a terminal', async () => {
  await dendro(['datasets', 'create', '--collection', 'lines', '--dataset', 'one'])
  await dendro(['datasets', 'create', '--collection', 'lines', '--dataset', 'two'])
  const rows = (await dendro(['--output', 'ndjson', 'datasets', 'list', '--from-expr', "collection = 'lines'"])).out.split('\n')
  expect(rows.map((row) => JSON.parse(row).dataset).sort()).toEqual(['one', 'two'])
})

test('a page of a list has the form of the whole list, and names the next page', async () => {
  for (const name of ['a', 'b', 'c']) await dendro(['datasets', 'create', '--collection', 'pages', '--dataset', name])
  const list = (...words: string[]) => dendro(['datasets', 'list', '--search', 'pages', '--sort', 'name', ...words])
  const next = (await org.ask<{ next_cursor: string }>('GET', '/datasets?search=pages&sort=name&limit=2')).body.next_cursor
  const more = `there are more: --cursor ${next}`
  const rows = await list('--limit', '2', '--output', 'ndjson')
  expect(rows.out.split('\n').map((row) => JSON.parse(row).dataset)).toEqual(['a', 'b'])
  expect(rows.err).toBe(more)
  expect((await list('--limit', '2', '--output', 'csv')).out).toMatch(
    /^id,collection,dataset.*\n[^\n]+,pages,a,[^\n]+\n[^\n]+,pages,b,[^\n]+$/,
  )
  const table = await list('--limit', '2')
  expect(table.out).toMatch(/^ID +COLLECTION +DATASET.*\n.* a .*\n.* b .*$/)
  expect(table.err).toBe(more)
  expect(json(await list('--limit', '2', '--output', 'json'))).toMatchObject({ datasets: [{}, {}], next_cursor: next })
  expect(await list('--limit', '2', '--output', 'ndjson', '--cursor', next)).toMatchObject({ err: '', out: expect.stringContaining('"c"') })
})

test('a body is read from the command line, a file or standard input, and options override its fields', async () => {
  const body = { name: 'from a body', roles: ['SearchApi'], tags: { a: 'b' } }
  const file = join(folder, 'key.json')
  await writeFile(file, JSON.stringify(body))
  const ways: [string, string?][] = [[JSON.stringify(body)], [`@${file}`], ['-', JSON.stringify(body)]]
  for (const [word, input = ''] of ways) {
    const made = await dendro(['api-keys', 'create', '--body', word, '--roles', 'IngestionApi', '--output', 'json'], { input })
    expect(json(made)).toMatchObject({ name: 'from a body', roles: ['IngestionApi'], tags: { a: 'b' } })
  }
})

test('a list option repeats its name or takes a JSON list', async () => {
  const repeated = await dendro([
    'api-keys',
    'create',
    '--name',
    'k',
    '--roles',
    'SearchApi',
    '--roles',
    'IngestionApi',
    '--output',
    'json',
  ])
  const written = await dendro(['api-keys', 'create', '--name', 'k', '--roles', '["SearchApi","IngestionApi"]', '--output', 'json'])
  for (const made of [repeated, written]) expect(json<{ roles: string[] }>(made).roles).toEqual(['SearchApi', 'IngestionApi'])
})

test('a refusal is one sentence with the correlation id, and status 1', async () => {
  const refused = await dendro(['api-keys', 'create', '--name', 'k', '--roles', 'Nobody'])
  expect(refused.status).toBe(1)
  expect(refused.out).toBe('')
  expect(refused.err).toMatch(/^dendro: roles must each be one of .* \(400 Bad Request, correlation id [\da-f]{32}\)$/)
})

test.each([
  [['datasets', 'crate'], /unknown command 'crate'\n.*create/],
  [['datasets', 'get'], /missing required argument 'dataset-id'/],
  [['datasets', 'list', '--form', 'x'], /unknown option '--form'/],
  [['audit', 'list', '--limit', 'many'], /--limit takes a number, not many/],
  [['policies', 'create', '--resource', '{'], /--resource takes JSON/],
  [['datasets', 'create', '--tags', 'env'], /--tags takes key=value, not env/],
  [['datasets', 'create', '--body', '@/does/not/exist'], /--body: ENOENT/],
  [['datasets', 'create', '--body', '[]', '--dataset', 'x'], /--body is not an object/],
  [['datasets', 'list', '--output', 'xml'], /Allowed choices are table, json, ndjson, csv/],
  [['--url', 'ftp://x', 'datasets', 'list'], /ftp:\/\/x is not an http or https URL/],
  [['seed', 'sea'], /unknown scenario sea; choose one of shop/],
])('%j is not understood: status 2, and nothing is sent', async (words, sentence) => {
  const ran = await dendro(words)
  expect(ran.status).toBe(2)
  expect(ran.err).toMatch(sentence)
})

test('without a credential only public endpoints are called', async () => {
  const env = { DENDRO_URL: app.url }
  expect(await dendro(['datasets', 'list'], { env })).toMatchObject({
    status: 2,
    err: 'dendro: no credential: use dendro login, set DENDRO_API_KEY, or use --key',
  })
  await expect.poll(async () => (await dendro(['health', 'get', '--output', 'json'], { env })).out).toContain('"status": "ok"')
  expect((await dendro(['datasets', 'list', '--key', org.key], { env })).status).toBe(0)
})

test('a service that does not answer is a failure that names the address', async () => {
  const ran = await dendro(['datasets', 'list', '--url', 'http://127.0.0.1:9'])
  expect(ran.status).toBe(1)
  expect(ran.err).toMatch(/^dendro: no answer from http:\/\/127\.0\.0\.1:9\/datasets: .*check DENDRO_URL$/)
})

test('a table fits the width of the terminal and names the omitted columns', async () => {
  await dendro(['datasets', 'create', '--collection', 'wide', '--dataset', 'a dataset with a rather long name'])
  const { out } = await dendro(['datasets', 'list'], { columns: 60 })
  const lines = out.split('\n')
  for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(60)
  expect(lines.at(-1)).toContain('not shown for width')
})

test('an answer of several lists names those that are empty', () => {
  const out: string[] = []
  show({ backups: [], tasks: [] }, 'table', capturingTerminal({}, out))
  expect(out.join('')).toBe('backups (0)\n(none)\n\ntasks (0)\n(none)\n')
})

test('one long name hides no column, and a narrow terminal shows names in place of ids', async () => {
  const fresh = await app.newOrganization()
  const env = { DENDRO_URL: app.url, DENDRO_API_KEY: fresh.key }
  for (const name of ['漢字'.repeat(40), 'plain']) await dendro(['dashboards', 'create', '--name', name, '--description', 'first'], { env })
  const at = async (columns: number) => (await dendro(['dashboards', 'list', '--sort', 'name'], { env, columns })).out.split('\n')
  const [head, , wide] = await at(80)
  expect(head).toMatch(/^ID +NAME$/)
  // 40 columns are left, and each of these characters takes two.
  expect(wide).toMatch(/^[\da-f-]{36} {2}(漢字){10}…$/)
  expect(await at(40)).toEqual([
    'NAME',
    'plain',
    `${'漢字'.repeat(9)}漢…`,
    '(not shown for width: id, description; --output json has everything)',
  ])
  expect((await at(200))[1]).toMatch(/^[\da-f-]{36} {2}plain +first$/)
})

test('lists within lists come out as rows that say where they are from', async () => {
  const fresh = await app.newOrganization()
  const env = { DENDRO_URL: app.url, DENDRO_API_KEY: fresh.key }
  await dendro(['datasets', 'create', '--collection', 'shop', '--dataset', 'web'], { env })
  expect((await dendro(['collections', 'list'], { env })).out).toMatch(/^IN +DATASET +ID\n(.*\n)*shop +web +[\da-f-]{36}$/m)
  expect((await dendro(['access', 'list-own'], { env })).out).toBe('(none)')
})

test('lists of a record come out as tables below it', async () => {
  const fresh = await app.newOrganization()
  const env = { DENDRO_URL: app.url, DENDRO_API_KEY: fresh.key }
  for (const dataset of ['one', 'two']) await dendro(['datasets', 'create', '--collection', 'lists', '--dataset', dataset], { env })
  const { out } = await dendro(['retention', 'overview'], { env })
  expect(out).toMatch(/^clock +.*\n(.*\n)*\ndatasets \(\d+\)\nLOG_ID +COLLECTION +DATASET .*\n(.*\n)*[\da-f-]{36} +lists +one /m)
})

test('control characters in records are escaped', async () => {
  await dendro(['api-keys', 'create', '--name', 'red \u001b[31m and \u202e backwards', '--roles', 'SearchApi'])
  const { out } = await dendro(['api-keys', 'list'])
  expect(out).toContain('red \\u001b[31m and \\u202e backwards')
})

test('an empty list prints a note, and help is printed to standard output with status 0', async () => {
  const fresh = await app.newOrganization()
  expect((await dendro(['groups', 'list'], { env: { DENDRO_URL: app.url, DENDRO_API_KEY: fresh.key } })).out).toBe('(none)')
  const help = await dendro(['datasets', 'create', '--help'])
  expect(help).toMatchObject({ status: 0, err: '' })
  expect(help.out).toContain('POST /datasets')
  expect((await dendro([])).status).toBe(2)
})

test('every endpoint except web pages is a command, and no option is ambiguous', () => {
  const program = programFor(capturingTerminal({}))
  const commands = new Set(program.commands.flatMap((noun) => noun.commands.map((verb) => `${noun.name()} ${verb.name()}`)))
  const word = (name: string) => name.replaceAll(/[A-Z]/g, (initial) => `-${initial.toLowerCase()}`)
  const isPage = (media = '') => /html|css|javascript|svg/.test(media)
  const expected = Object.entries(contract as Contract).flatMap(([noun, group]) =>
    Object.entries(group).flatMap(([verb, { media }]) => (isPage(media) ? [] : [`${word(noun)} ${word(verb)}`])),
  )
  expect(expected.filter((name) => !commands.has(name))).toEqual([])
  for (const noun of program.commands) {
    for (const verb of noun.commands) {
      const flags = verb.options.map((option) => option.long)
      expect(new Set(flags).size, `${noun.name()} ${verb.name()}`).toBe(flags.length)
    }
  }
})
