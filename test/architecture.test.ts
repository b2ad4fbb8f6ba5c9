import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** The map of the server: every room, and what it may import besides itself, the ground floor and the api package. */
const rooms: Record<string, readonly string[]> = {
  events: [],
  meta: [],
  http: [],
  query: [],
  parsers: [],
  outgoing: [],
  depot: [],
  'world.ts': ['events', 'meta', 'outgoing', 'depot'],
  reading: ['query', 'events', 'world.ts'],
  'mail.ts': ['world.ts'],
  'model.ts': ['world.ts', 'outgoing'],
  jobs: ['meta', 'world.ts'],
  resources: ['query', 'reading', 'monitors', 'parsers', 'events', 'meta', 'http', 'jobs', 'outgoing', 'depot', 'world.ts'],
  ingest: ['parsers', 'events', 'http', 'world.ts', 'resources'],
  monitors: ['query', 'reading', 'meta', 'world.ts'],
  mcp: ['http', 'world.ts', 'resources'],
}
const groundFloor = [
  'errors.ts',
  'clock.ts',
  'guarded-clock.ts',
  'ids.ts',
  'log.ts',
  'log-limit.ts',
  'secret.ts',
  'vault.ts',
  'child.ts',
  'reach.ts',
  'version.ts',
]
const roof = ['main.ts', 'start-failure.ts', 'app.ts', 'work.ts', 'store-gauges.ts', 'config.ts']
/** What the packages may import of one another; nobody imports the server, the web app or the command line. */
const packages: Record<string, readonly string[]> = {
  api: [],
  language: ['@dendro/api'],
  server: ['@dendro/api', '@dendro/language'],
  cli: ['@dendro/api', '@dendro/api/demo'],
  web: ['@dendro/api', '@dendro/api/client', '@dendro/api/demo', '@dendro/language'],
}
/** Folders whose files may be entered from outside only by these names, besides the file that bears the folder's name. */
const openDoors = ['rows.ts']

type Import = { from: string; to: string }

const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.includes('/cases/')

function sourcesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((file) => !isTest(file))
}

function importsOf(file: string): string[] {
  return ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true).importedFiles.map((found) => found.fileName)
}

const sources = ['api/src', 'language/src', 'server/src', 'cli/src', 'web/src'].flatMap(sourcesOf)
const serverImports: Import[] = sources
  .filter((file) => file.startsWith('server/src'))
  .flatMap((file) =>
    importsOf(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => ({ from: relative('server/src', file), to: relative('server/src', join(dirname(file), name)) })),
  )

/** below is what each file imports of our own, by its name in the checkout. */
const below = new Map(sources.map((file) => [file, importsOf(file).flatMap((name) => ownFile(file, name))]))

function ownFile(from: string, name: string): string[] {
  const [, pack, inside = 'index'] = /^@dendro\/(\w+)(?:\/(.+))?$/.exec(name) ?? []
  const file = pack ? `${pack}/src/${inside}.ts` : join(dirname(from), name)
  return sources.includes(file) ? [file] : []
}

function leadsTo(from: string, to: string, seen = new Set<string>()): boolean {
  return (below.get(from) ?? []).some((next) => {
    if (next === to) return true
    if (seen.has(next)) return false
    seen.add(next)
    return leadsTo(next, to, seen)
  })
}

const roomOf = (file: string): string => file.split('/')[0] ?? file

test('the map is looked at with open eyes: there are sources and imports', () => {
  expect(sources.length).toBeGreaterThan(30)
  expect(serverImports.length).toBeGreaterThan(50)
  expect([...below.values()].flat().length).toBeGreaterThan(1_000)
})

test('every file of the server stands in a room of the map', () => {
  const known = new Set([...Object.keys(rooms), ...groundFloor, ...roof])
  const strangers = sources.filter((file) => file.startsWith('server/src')).map((file) => relative('server/src', file))
  expect([...new Set(strangers.map(roomOf))].filter((room) => !known.has(room))).toEqual([])
})

test('imports point down the map', () => {
  const broken = serverImports.filter(({ from, to }) => !mayImport(from, to)).map(({ from, to }) => `${from} -> ${to}`)
  expect(broken).toEqual([])
})

function mayImport(from: string, to: string): boolean {
  if (groundFloor.includes(to))
    return !groundFloor.includes(from) || from > to || to === 'secret.ts' || to === 'clock.ts' || to === 'log.ts'
  if (roof.includes(from)) return true
  const room = roomOf(from)
  if (room === roomOf(to)) return true
  return (rooms[room] ?? []).some((allowed) => to === allowed || roomOf(to) === allowed)
}

test('a slice enters another slice by its door', () => {
  const broken = serverImports.filter(({ from, to }) => {
    const [fromTop, fromSlice] = from.split('/')
    const [toTop, toSlice, ...inside] = to.split('/')
    if (toTop !== 'resources' || (fromTop === 'resources' && fromSlice === toSlice) || roof.includes(from)) return false
    return openDoors.includes(inside.join('/'))
  })
  expect(broken.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

test('no file imports itself by way of others', () => {
  const circles = [...below.keys()].filter((file) => leadsTo(file, file))
  expect(circles).toEqual([])
})

test('packages import only what is below them', () => {
  const broken = sources.flatMap((file) => {
    const home = file.split('/')[0] ?? ''
    return importsOf(file)
      .filter(
        (name) => name.startsWith('@dendro/') && !packages[home]?.includes(/^@dendro\/language\//.test(name) ? '@dendro/language' : name),
      )
      .map((name) => `${file} -> ${name}`)
  })
  expect(broken).toEqual([])
})

test('the service reads texts by its own door alone, where what is refused becomes a 400', () => {
  const readers = /import \{[^}]*\b(?:parse\w+|fillFilter|checkTemplate|refusal)\b[^}]*\} from '@dendro\/language\//
  const broken = sources.filter((file) => file.startsWith('server/src') && readers.test(readFileSync(join(root, file), 'utf8')))
  expect(broken).toEqual(['server/src/query/query.ts'])
})

test('there are no drawers, no barrels and no splicing of SQL text', () => {
  const drawers = /(^|\/)(utils?|helpers?|common|misc|shared|types|constants)(\.ts|\/)/
  expect(sources.filter((file) => drawers.test(file))).toEqual([])
  expect(sources.filter((file) => file.endsWith('/index.ts') && file !== 'api/src/index.ts')).toEqual([])
  const spliced = sources.filter(
    (file) => !file.endsWith('/migrate.ts') && /\bsql\.(raw|lit)\b/.test(readFileSync(join(root, file), 'utf8')),
  )
  expect(spliced).toEqual([])
})

test('only the configuration reads the environment', () => {
  const readers = sources.filter((file) => file.startsWith('server/src') && /process\.env\b/.test(readFileSync(join(root, file), 'utf8')))
  expect(readers.filter((file) => !['server/src/config.ts', 'server/src/main.ts'].includes(file))).toEqual([])
})

test('a file is read in one sitting', () => {
  const long = sources.filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 401)
  expect(long).toEqual([])
})

test('no text of a caller is looked up in an object that inherits names: tables by text are maps', () => {
  // Such an object also has `toString`, `constructor` and `__proto__`, which are keys of events like any other.
  const table = /^\s*(?:export )?const \w+: (?:Readonly<)?Record<string, .*> = \{(?! ?\})(?! ?\.\.\.)/m
  const found = sources.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return table.test(text) || /\bas keyof typeof\b/.test(text)
  })
  expect(found.filter((file) => file !== 'server/src/meta/embedded.ts' && !/(^|\/)test-/.test(file))).toEqual([])
})

test('a page of the web app never imports another page, and parts know of no page', () => {
  const web = sources.filter((file) => file.startsWith('web/src/'))
  expect(web.length).toBeGreaterThan(15)
  const floors = ['ui', 'session', 'parts', 'pages']
  const broken = web.flatMap((file) => {
    const [floor = '', page] = relative('web/src', file).split('/')
    return importsOf(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => relative('web/src', join(dirname(file), name)).split('/'))
      .filter(
        ([to = '', toPage]) =>
          floors.includes(floor) && (floors.indexOf(to) > floors.indexOf(floor) || (to === 'pages' && toPage !== page)),
      )
      .map((to) => `${file} -> ${to.join('/')}`)
  })
  expect(broken).toEqual([])
})
