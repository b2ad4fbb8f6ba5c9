/**
 * Runs every statement of the service on the PostgreSQL server at DENDRO_TEST_POSTGRES_URL: `npm run replay-statements DIR`. The statements and their
 * values were recorded by a test run (DENDRO_TEST_STATEMENTS=DIR npm test). The script fails when a `sql` template was never recorded, or when the server
 * refuses a statement. Each statement runs on empty tables, in a transaction that is rolled back, so a violated constraint is no failure. Without a URL the
 * script only reports templates that were not recorded.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { makeTestDatabase } from '../../server/src/meta/database.fixture.ts'
import { clientConfig, sqlState } from '../../server/src/meta/driver.ts'
import { madeFrom, neverRun, type RecordedStatement, templatesIn } from '../support/statements.ts'

const CONSTRAINT_VIOLATED = /^23/

const [dir = ''] = process.argv.slice(2)
const serverUrl = process.env.DENDRO_TEST_POSTGRES_URL
const root = resolve(import.meta.dirname, '../..')
const files = globSync('server/src/**/*.ts', { cwd: root }).filter((path) => !/\.(test|fixture)\.ts$/.test(path))
const templates = files.flatMap((path) => templatesIn(path, readFileSync(join(root, path), 'utf8')))
const recorded = [
  ...new Map(
    readdirSync(dir)
      .flatMap(readRecords)
      .map((one) => [one.text, one]),
  ).values(),
]
const missing = neverRun(templates, recorded)
for (const { place, pieces } of missing) print(`${place}: no test ran ${pieces.join('…').trim().slice(0, 120)}`)
const refused = serverUrl === undefined ? 0 : await replay(serverUrl)
process.exitCode = missing.length + refused === 0 && templates.length > 0 ? 0 : 1

function readRecords(name: string): RecordedStatement[] {
  const lines = readFileSync(join(dir, name), 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line, reviveBuffer) as RecordedStatement)
}

/** Restores buffers, which JSON writes as a list of bytes. */
function reviveBuffer(_: string, value: unknown): unknown {
  const isBuffer = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value
  return isBuffer ? Buffer.from(value.data as number[]) : value
}

/** Returns how many statements the server refused. */
async function replay(url: string): Promise<number> {
  const database = await makeTestDatabase(url)
  await database.open()
  const client = new pg.Client(clientConfig({ connectionString: database.url }))
  await client.connect()
  const statements = madeFrom(templates, recorded)
  let refused = 0
  for (const { text, values } of statements) {
    await client.query('begin')
    await makeCopies(client, text)
    const cause: unknown = await client.query(text, values).then(
      () => undefined,
      (error: unknown) => error,
    )
    await client.query('rollback')
    if (cause === undefined || CONSTRAINT_VIOLATED.test(sqlState(cause) ?? '')) continue
    refused += 1
    print(`refused: ${text}\n  ${String(cause)}`)
  }
  const { rows } = await client.query('show server_version')
  print(`${statements.length} statements of ${templates.length} templates on PostgreSQL ${rows[0].server_version}: ${refused} refused`)
  await client.end()
  await database.drop()
  return refused
}

/** Statements on rows of a backup read temporary tables with the columns of others, whose names they have after `backup_`. */
async function makeCopies(client: pg.Client, text: string): Promise<void> {
  for (const [copy, name] of new Map([...text.matchAll(/\bbackup_([a-z_]+)\b/g)].map(([whole, of]) => [whole, of]))) {
    const { rows } = await client.query('select to_regclass($1) is null and to_regclass($2) is not null as is_copy', [copy, name])
    if (rows[0].is_copy) await client.query(`create temporary table ${copy} (like ${name} including defaults) on commit drop`)
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
