import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { endpoints, type Named, shapeOf } from './endpoints.ts'

const root = resolve(import.meta.dirname, '../..')
const PAGE = join(root, 'docs/api-coverage.md')

/** Endpoints of the reference that are not started; remove one here when adding it to the contract. */
export const notInContract: readonly string[] = []

const tiers = { S: 'stated', C: 'core', X: 'extension', D: 'our own' }

/** Lists every endpoint, its status, and a test that calls it, besides the laws that hold for all. */
export function coveragePage(): string {
  const tests = sourcesOfTests()
  const rows = endpoints
    .toSorted((a, b) => compare(a.endpoint.path, b.endpoint.path) || compare(a.endpoint.method, b.endpoint.method))
    .map((named) => rowOf(named, tests))
  return [
    '# What of the API is there',
    '',
    'Made from the contract by `node test/contract/coverage.ts`; a test says when it is out of date. Every endpoint that is there is held by the laws',
    'of `test/contract.test.ts` and `test/contract/records.test.ts` (credentials, permissions, other organizations, bodies, replies, audit); the last column names one that asks it.',
    '',
    '| Endpoint | Tier | State | A test besides the laws |',
    '| --- | --- | --- | --- |',
    ...rows,
    ...notInContract.map((name) => `| \`${name}\` | | open | |`),
    '',
  ].join('\n')
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function rowOf({ name, endpoint }: Named, tests: readonly Source[]): string {
  const { method, path, aliases = [], tier } = endpoint
  const shapes = [path, ...aliases].map(shapeOf)
  const asking = tests.filter(({ paths }) => shapes.some((shape) => paths.has(shape)))
  const folder = `/${(name.split('.')[0] ?? '').replaceAll(/[A-Z]/g, (character) => `-${character.toLowerCase()}`)}/`
  const file = (asking.find((one) => one.file.includes(folder)) ?? asking[0])?.file
  return `| \`${[`${method} ${path}`, ...aliases].join('`, `')}\` | ${tiers[tier]} | built | ${file ? `\`${file}\`` : ''} |`
}

type Source = { file: string; paths: ReadonlySet<string> }

/** The tests with the paths they contain, without values and queries. */
function sourcesOfTests(): Source[] {
  const files = ['server/src/resources', 'server/src/ingest', 'test/journeys'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name)),
  )
  return files.toSorted().map((file) => {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/\$\{[^{}]*\}/g, '{}')
    return { file, paths: new Set([...text.matchAll(/['"`](\/[\w{}./-]*)/g)].map(([, path = '']) => path)) }
  })
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, coveragePage())
