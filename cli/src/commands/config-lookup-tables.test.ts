import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LookupTable } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

let app: TestApp
let folder: string
beforeAll(async () => {
  app = await openTestApp()
  folder = await mkdtemp(join(tmpdir(), 'dendro-config-tables-'))
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

type Setting = { org: TestOrganization; included?: Readonly<Record<string, string | Uint8Array>>; words?: readonly string[] }

const run = (org: TestOrganization, words: readonly string[]): Promise<Ran> =>
  runCaptured([...words], { env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder } })

/** Applies a document, with other files in its folder. */
async function apply(text: string, { org, included = {}, words = ['--yes'] }: Setting): Promise<Ran> {
  const place = await mkdtemp(join(folder, 'files-'))
  for (const [name, content] of Object.entries({ ...included, 'config.yaml': text })) await writeFile(join(place, name), content)
  return run(org, ['apply', '-f', join(place, 'config.yaml'), ...words])
}

/** Applies a document; the same document then changes nothing. */
async function applied(text: string, setting: Setting): Promise<Ran> {
  const ran = await apply(text, setting)
  expect(ran.status, ran.err).toBe(0)
  expect(await apply(text, { ...setting, words: ['--dry-run'] })).toMatchObject({ status: 0, out: '' })
  return ran
}

const tablesOf = async (org: TestOrganization) =>
  (await org.ask<{ lookup_tables: LookupTable[] }>('GET', '/lookup-tables')).body.lookup_tables
const table = (rest = 'csv: { file: hosts.csv }') => `kind: lookup_table\nname: hosts\nkey: host\n${rest}\n`
const lookup = "---\nkind: ingest_rule\nname: Owners\nfrom_expr: '*'\naction: { type: LOOKUP, table: hosts, key: host, prefix: '' }\n"

test('lookup tables come before the rules that use them; an equal file is not uploaded, and a diff has its hash', async () => {
  const org = await app.newOrganization()
  await applied(table() + lookup, { org, included: { 'hosts.csv': 'host,team\na,shop\n' } })
  await applied(table() + lookup, { org, included: { 'hosts.csv': 'host,team\na,shop\n' } })
  expect(await tablesOf(org)).toMatchObject([{ name: 'hosts', key: 'host', rows: 1, version: 1 }])
  const changed = await applied(table('description: Who\ncsv: { file: hosts.csv }') + lookup, {
    org,
    included: { 'hosts.csv': 'host,team\na,shop\nb,web\n' },
  })
  expect(changed.out).toMatch(/csv: "17 bytes, SHA-256 [\da-f]{64}" → "23 bytes, SHA-256 [\da-f]{64}"/)
  expect(changed.out).not.toContain('shop')
  expect(await tablesOf(org)).toMatchObject([{ rows: 2, version: 2, description: 'Who' }])
  const described = await applied(table('csv: "host,team\\na,shop\\nb,web\\n"'), { org })
  expect(described.out.split('\n')).toEqual(['~ lookup_table hosts', '    description: Who → (absent)'])
  expect((await tablesOf(org))[0]).toMatchObject({ version: 2 })
})

test('files longer than what creates a table are uploaded whole', async () => {
  const org = await app.newOrganization()
  const csv = `host,team\n${Array.from({ length: 250_000 }, (_, n) => `host ${n},team ${n}`).join('\n')}`
  expect(csv.length).toBeGreaterThan(3_000_000)
  await applied(table(), { org, included: { 'hosts.csv': csv } })
  expect(await tablesOf(org)).toMatchObject([{ rows: 250_000, bytes: csv.length, version: 2 }])
})

test('tables are written into a file beside the document, or into the document on standard output', async () => {
  const org = await app.newOrganization()
  await applied(table(), { org, included: { 'hosts.csv': 'host,team\na,shop\n' } })
  const shown = await run(org, ['export-config', '--only', 'lookup-tables'])
  expect(shown.out).toBe('---\nkind: lookup_table\nname: hosts\nkey: host\ncsv: |\n  host,team\n  a,shop')
  const place = await mkdtemp(join(folder, 'tables-'))
  expect((await run(org, ['export-config', '--only', 'lookup-tables', '-o', place])).status).toBe(0)
  expect(await readFile(join(place, 'lookup-tables.yaml'), 'utf8')).toContain('csv:\n  file: lookup-table-hosts.csv\n')
  expect(await readFile(join(place, 'lookup-table-hosts.csv'), 'utf8')).toBe('host,team\na,shop\n')
  expect(await run(org, ['apply', '-f', place, '--dry-run'])).toMatchObject({ status: 0, out: '' })
})

test.each<[string, string, Record<string, string | Uint8Array>, RegExp]>([
  ['a file that is not there', table(), {}, /config\.yaml:4: csv names the file hosts\.csv, which cannot be read \(ENOENT\)/],
  ['a file outside the folder', table('csv: { file: ../hosts.csv }'), {}, /csv names the file \.\.\/hosts\.csv, which/],
  ['a file in another encoding', table(), { 'hosts.csv': Buffer.from('host\n\xe9', 'latin1') }, /which is not in UTF-8/],
  ['no rows', table(''), {}, /csv is required/],
])('%s is a problem with its line', async (_, text, included, problem) => {
  const refused = await apply(text, { org: await app.newOrganization(), included })
  expect([refused.status, refused.err]).toEqual([1, expect.stringMatching(problem)])
})

test('another key column is refused before anything is sent', async () => {
  const org = await app.newOrganization()
  await applied(table('csv: "host,team\\na,b\\n"'), { org })
  const refused = await apply(table('csv: "host,team\\na,b\\n"').replace('key: host', 'key: team'), { org, words: ['--yes'] })
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('lookup_table hosts cannot be changed (key)')])
})
