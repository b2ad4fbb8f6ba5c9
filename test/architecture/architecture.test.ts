import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importGraph, type Rule, rules, serverImports, type Tree } from './rules.ts'

const root = resolve(import.meta.dirname, '../..')

function readTree(): Map<string, string> {
  const folders = ['api/src', 'language/src', 'server/src', 'cli/src', 'web/src', 'clients/javascript/src']
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  )
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}

const tree: Tree = readTree()

test('the tree that is checked has sources and imports', () => {
  expect(tree.size).toBeGreaterThan(500)
  expect(serverImports(tree).length).toBeGreaterThan(1_000)
  expect([...importGraph(tree).values()].flat().length).toBeGreaterThan(1_000)
})

describe('the tree keeps every rule', () => {
  test.each(Object.entries<Rule>(rules))('%s', (_, rule) => {
    expect(rule(tree)).toEqual([])
  })
})

/** For each rule, files that break it when they are added to the real tree. */
const planted: Record<keyof typeof rules, Record<string, string>> = {
  'every server file belongs to a module of the map': { 'server/src/attic/box.ts': '' },
  'server modules import only what the map allows': { 'server/src/lines/planted.ts': "import { openMeta } from '../meta/meta.ts'" },
  'areas of resources import downwards': {
    'server/src/resources/data/datasets/planted.ts': "import { search } from '../../queries/search/search.ts'",
  },
  'folders of reading import downwards': {
    'server/src/reading/sql/planted.ts': "import { run } from '../run/run.ts'",
    'server/src/reading/filter/planted.ts': "import { readStats } from '../reading.ts'",
  },
  'reading keeps nothing between queries: the caches of the store do': {
    'server/src/reading/run/planted.ts': 'const known = new Map<string, readonly [number, () => void]>()',
    'server/src/reading/plan/planted.ts': 'const known: WeakMap<object, string> = new WeakMap()',
    'server/src/reading/filter/planted.ts': 'let count = 0',
  },
  'reading is entered by reading.ts, and its types by query.ts': {
    'server/src/resources/queries/search/planted.ts': "import { run } from '../../../reading/run/run.ts'",
  },
  'every file of reading lies in a known folder': { 'server/src/reading/attic/box.ts': '', 'server/src/reading/box.ts': '' },
  'a feature module is entered by the file that bears its name': {
    'server/src/resources/queries/search/planted.ts': "import { keptSince } from '../../data/retention/keepings.ts'",
    'server/src/ingest/planted.ts': "import type { Row } from '../resources/access/users/rows.ts'",
    'server/src/work.ts': "import { limits } from './resources/data/limits/metering.ts'",
  },
  'every feature module lies in a known area': { 'server/src/resources/misplaced/thing/thing.ts': '' },
  'no file imports itself through others': {
    'language/src/planted-a.ts': "import { b } from './planted-b.ts'",
    'language/src/planted-b.ts': "import { a } from '@dendro/language/planted-a'",
  },
  'packages import only the packages below them': { 'api/src/planted.ts': "import { x } from '@dendro/language/filter'" },
  'the server parses query texts only in query/query.ts, which turns refusals into 400s': {
    'server/src/reading/planted.ts': "import { parseFilter } from '@dendro/language/filter'",
  },
  'no module is a grab-bag or a barrel': { 'web/src/ui/helpers.ts': '', 'server/src/meta/index.ts': '' },
  'SQL is never built from strings': { 'server/src/meta/planted.ts': 'const query = sql.raw(text)' },
  'a cluster is named in statements of one file, which doctor --plan prints': {
    'server/src/events/writer/planted.ts': "const query = `drop table x on cluster 'blue'`",
    'server/src/events/purge/planted.ts': "const parts = `clusterAllReplicas('blue', system.parts)`",
    'server/src/events/ledger/planted.ts': "const settings = { insert_quorum: 'auto' }",
  },
  'only the configuration reads the environment': { 'server/src/http/planted.ts': 'const port = process.env.PORT' },
  'no file has more than 400 lines': { 'server/src/http/planted.ts': 'const line = 1\n'.repeat(401) },
  'web pages import no other page, and lower layers import no higher ones': {
    'web/src/pages/usage/planted.ts': "import { Explore } from '../explore/explore.tsx'",
    'web/src/ui/planted.ts': "import { Session } from '../session/session.ts'",
  },
  'test support is named *.fixture.ts, and no product file imports it': {
    'server/src/meta/test-planted.ts': '',
    'server/src/meta/planted.ts': "import { makeDatabase } from './database.fixture.ts'",
  },
  'tables by text are maps: an object literal also has toString, constructor and __proto__': {
    'server/src/query/planted.ts': 'const functions: Record<string, number> = { count: 1 }',
    'language/src/planted.ts': 'const known = name as keyof typeof functions',
  },
}

describe('every rule finds each planted violation', () => {
  const cases = Object.entries(planted).flatMap(([name, files]) =>
    Object.entries(files).map(([file, text]) => ({ name: name as keyof typeof rules, file, files: { ...files, [file]: text } })),
  )
  test.each(cases)('$name: $file', ({ name, file, files }) => {
    const rule: Rule = rules[name]
    const found = rule(new Map([...tree, ...Object.entries(files)]))
    expect(found.filter((line) => line.startsWith(file))).not.toEqual([])
  })
})
