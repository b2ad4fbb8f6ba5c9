import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

/** Maps the path of each source file in the repository to its text. */
export type Tree = ReadonlyMap<string, string>

/** Finds violations in a tree; each is one line that names the file. */
export type Rule = (tree: Tree) => readonly string[]

type Import = { readonly from: string; readonly to: string }

/** The shared kernel: every module may import it, and it imports nothing else. */
const KERNEL = 'kernel'

/** Server modules, and what each may import besides itself and the kernel. Files of the top level are modules of their own. */
export const serverModules: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  patterns: [],
  lines: ['patterns'],
  'events/store': ['lines', 'files'],
  'events/writer': ['events/store', 'lines'],
  'events/ledger': ['events/store', 'events/writer', 'lines'],
  'events/purge': ['events/store', 'lines'],
  'events/tiers': ['events/store', 'lines'],
  meta: [],
  files: [],
  outgoing: [],
  kafka: ['outgoing'],
  parsers: [],
  sizing: [],
  query: [],
  'ingest-rules': ['lines', 'parsers', 'query'],
  http: [],
  'http/pages': ['http'],
  backups: ['files', 'events/store', 'meta'],
  'world.ts': ['backups', 'events/store', 'events/tiers', 'events/writer', 'events/ledger', 'meta', 'files', 'outgoing'],
  jobs: ['meta', 'world.ts'],
  reading: ['query', 'lines', 'patterns', 'events/store', 'world.ts'],
  resources: [
    'world.ts',
    'reading',
    'backups',
    'query',
    'lines',
    'patterns',
    'parsers',
    'ingest-rules',
    'events/store',
    'events/writer',
    'events/ledger',
    'events/purge',
    'events/tiers',
    'meta',
    'jobs',
    'files',
    'outgoing',
    'kafka',
    'http',
  ],
  ingest: [
    'world.ts',
    'resources',
    'jobs',
    'parsers',
    'ingest-rules',
    'query',
    'lines',
    'events/writer',
    'events/ledger',
    'http',
    'kafka',
    'outgoing',
  ],
  mcp: ['http', 'world.ts', 'resources', 'query', 'lines'],
}

/** Files of the server's top level that wire the modules together and may import anything. */
export const wiring = [
  'main.ts',
  'doctor.ts',
  'size.ts',
  'app.ts',
  'routes.ts',
  'open-world.ts',
  'identify.ts',
  'first-start.ts',
  'work.ts',
  'config.ts',
  'setting-values.ts',
  'certificates.ts',
  'start-failure.ts',
]

/** Areas of `resources/`: a feature module may import those of its own area and of the areas named here. */
export const resourceAreas: Readonly<Record<string, readonly string[]>> = {
  access: [],
  data: ['access'],
  queries: ['access', 'data'],
  boards: ['access', 'data', 'queries'],
  watching: ['access', 'data', 'queries'],
  assistants: ['access', 'data', 'queries', 'boards', 'watching'],
  service: ['access', 'data', 'queries', 'boards', 'watching'],
}

/** The folders of `reading/`: each imports itself and those before it. `query.ts`, the types, lies below all, `reading.ts`, the entrance, above. */
const readingFolders = [
  'query.ts',
  'sql',
  'cache',
  'run',
  'fields',
  'text-search',
  'filter',
  'plan',
  'statistics',
  'events',
  'comparison',
  'patterns',
  'reading.ts',
]

/** What each package may import of the others; no package imports the server, the CLI or the web app. */
const packages: Readonly<Record<string, readonly string[]>> = {
  api: [],
  language: ['@dendro/api'],
  server: ['@dendro/api', '@dendro/language'],
  cli: ['@dendro/api', '@dendro/api/demo', '@dendro/language'],
  clients: [],
  web: ['@dendro/api', '@dendro/api/client', '@dendro/api/dataset-flow', '@dendro/api/demo', '@dendro/api/senders', '@dendro/language'],
}

const FILE_LINES_MAX = 400
/** A variable, or a collection that begins empty, at the top level of a module. */
const MODULE_STATE = /^(?:export )?(?:let |const \w+\b(?!: Readonly)[^=\n]*= new (?:Weak)?(?:Map|Set)(?:<.*>)?\(\))/m
/** Also `distributed(` and `replicated…('path`: what differs in a cluster belongs there too. */
const NAMES_CLUSTER =
  /\bon cluster ['$]|\bcluster(?:AllReplicas)?\('|\bDistributed\('|\bReplicated\w*MergeTree\('|\binsert_quorum|\bselect_sequential/i
const WEB_LAYERS = ['ui', 'session', 'parts', 'pages']

export const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.endsWith('.test.tsx')
export const isFixture = (file: string): boolean => file.endsWith('.fixture.ts')

export const rules = {
  'every server file belongs to a module of the map': (tree) => serverFiles(tree).filter((file) => moduleOf(file) === undefined),

  'server modules import only what the map allows': (tree) =>
    serverImports(tree)
      .filter(({ from, to }) => !mayImport(from, to))
      .map(show),

  'areas of resources import downwards': (tree) =>
    serverImports(tree)
      .filter(({ from, to }) => {
        const [source, target] = [featureOf(from), featureOf(to)]
        return source && target && source.area !== target.area && !resourceAreas[source.area]?.includes(target.area)
      })
      .map(show),

  'folders of reading import downwards': (tree) =>
    serverImports(tree)
      .filter(({ from, to }) => {
        const [source, target] = [readingFolderOf(from), readingFolderOf(to)]
        return source && target && readingFolders.indexOf(target) > readingFolders.indexOf(source)
      })
      .map(show),

  'reading keeps nothing between queries: the caches of the store do': (tree) =>
    serverFiles(tree).filter((file) => readingFolderOf(file) && MODULE_STATE.test(tree.get(file) ?? '')),

  'reading is entered by reading.ts, and its types by query.ts': (tree) =>
    serverImports(tree)
      .filter(({ from, to }) => !readingFolderOf(from) && !['query.ts', 'reading.ts', undefined].includes(readingFolderOf(to)))
      .map(show),

  'every file of reading lies in a known folder': (tree) =>
    serverFiles(tree).filter((file) => {
      const folder = readingFolderOf(file)
      return folder !== undefined && !readingFolders.includes(folder)
    }),

  'a feature module is entered by the file that bears its name': (tree) =>
    serverImports(tree)
      .filter(({ from, to }) => {
        const [source, target] = [featureOf(from), featureOf(to)]
        if (!target || source?.folder === target.folder) return false
        return target.file !== `${target.noun}.ts` && !(isWiring(from) && target.file === 'routes.ts')
      })
      .map(show),

  'every feature module lies in a known area': (tree) =>
    serverFiles(tree).filter((file) => {
      const inside = relative('server/src', file).split('/')
      return inside[0] === 'resources' && inside.length > 2 && !Object.hasOwn(resourceAreas, inside[1] ?? '')
    }),

  'no file imports itself through others': (tree) => {
    const graph = importGraph(tree)
    return [...graph.keys()].filter((file) => reaches(graph, file, file))
  },

  'packages import only the packages below them': (tree) =>
    productFiles(tree).flatMap((file) => {
      const allowed = packages[file.split('/')[0] ?? ''] ?? []
      return importsOf(tree, file)
        .filter(
          (name) => name.startsWith('@dendro/') && !allowed.includes(name.startsWith('@dendro/language/') ? '@dendro/language' : name),
        )
        .map((name) => `${file} -> ${name}`)
    }),

  'the server parses query texts only in query/query.ts, which turns refusals into 400s': (tree) => {
    const readers = /import \{[^}]*\b(?:parse\w+|fillFilter|checkTemplate|refusal)\b[^}]*\} from '@dendro\/language\//
    return serverFiles(tree).filter((file) => file !== 'server/src/query/query.ts' && readers.test(tree.get(file) ?? ''))
  },

  'no module is a grab-bag or a barrel': (tree) => {
    const grabBag = /(^|\/)(utils?|helpers?|common|misc|shared|types|constants)(\.ts|\/)/
    return productFiles(tree).filter((file) => grabBag.test(file) || (file.endsWith('/index.ts') && file !== 'api/src/index.ts'))
  },

  'SQL is never built from strings': (tree) =>
    productFiles(tree).filter((file) => !file.endsWith('/migrate.ts') && /\bsql\.(raw|lit)\b/.test(tree.get(file) ?? '')),

  'a cluster is named in statements of one file, which doctor --plan prints': (tree) =>
    serverFiles(tree).filter((file) => !file.endsWith('/cluster-statements.ts') && NAMES_CLUSTER.test(tree.get(file) ?? '')),

  'only the configuration reads the environment': (tree) =>
    serverFiles(tree).filter(
      (file) => !['server/src/config.ts', 'server/src/main.ts'].includes(file) && /process\.env\b/.test(tree.get(file) ?? ''),
    ),

  [`no file has more than ${FILE_LINES_MAX} lines`]: (tree) =>
    productFiles(tree).filter((file) => (tree.get(file) ?? '').split('\n').length > FILE_LINES_MAX + 1),

  'web pages import no other page, and lower layers import no higher ones': (tree) =>
    productFiles(tree)
      .filter((file) => file.startsWith('web/src/'))
      .flatMap((file) => {
        const [layer = '', page] = relative('web/src', file).split('/')
        return importsOf(tree, file)
          .filter((name) => name.startsWith('.'))
          .map((name) => relative('web/src', join(dirname(file), name)).split('/'))
          .filter(
            ([to = '', toPage]) =>
              WEB_LAYERS.includes(layer) && (WEB_LAYERS.indexOf(to) > WEB_LAYERS.indexOf(layer) || (to === 'pages' && toPage !== page)),
          )
          .map((to) => `${file} -> ${to.join('/')}`)
      }),

  'test support is named *.fixture.ts, and no product file imports it': (tree) => [
    ...productFiles(tree).filter((file) => /(^|\/)test-[^/]*$/.test(file)),
    ...productFiles(tree).flatMap((file) =>
      importsOf(tree, file)
        .filter((name) => /\.fixture(\.ts)?$/.test(name) || name.endsWith('.test.ts'))
        .map((name) => `${file} -> ${name}`),
    ),
  ],

  'tables by text are maps: an object literal also has toString, constructor and __proto__': (tree) => {
    const table = /^\s*(?:export )?const \w+: (?:Readonly<)?Record<string, .*> = \{(?! ?\})(?! ?\.\.\.)/m
    return productFiles(tree).filter((file) => {
      const text = tree.get(file) ?? ''
      return file !== 'server/src/meta/embedded.ts' && (table.test(text) || /\bas keyof typeof\b/.test(text))
    })
  },
} satisfies Record<string, Rule>

const show = ({ from, to }: Import): string => `${from} -> ${to}`

/** The sources that ship: neither tests nor fixtures. */
export const productFiles = (tree: Tree): string[] => [...tree.keys()].filter((file) => !isTest(file) && !isFixture(file))

const serverFiles = (tree: Tree): string[] => productFiles(tree).filter((file) => file.startsWith('server/src/'))

const importsOf = (tree: Tree, file: string): string[] =>
  ts.preProcessFile(tree.get(file) ?? '', true, true).importedFiles.map((found) => found.fileName)

export function serverImports(tree: Tree): Import[] {
  return serverFiles(tree).flatMap((from) =>
    importsOf(tree, from)
      .filter((name) => name.startsWith('.'))
      .map((name) => ({ from, to: join(dirname(from), name) })),
  )
}

/** The module of a server file: the longest matching entry of the map. */
function moduleOf(file: string): string | undefined {
  const inside = relative('server/src', file)
  if (wiring.includes(inside)) return inside
  const [first = '', second = ''] = inside.split('/')
  return [`${first}/${second}`, first].find((name) => Object.hasOwn(serverModules, name))
}

const isWiring = (file: string): boolean => wiring.includes(relative('server/src', file))

function mayImport(from: string, to: string): boolean {
  const [source, target] = [moduleOf(from), moduleOf(to)]
  if (isWiring(from) || target === KERNEL || source === target) return true
  return source !== undefined && target !== undefined && (serverModules[source] ?? []).includes(target)
}

function readingFolderOf(path: string): string | undefined {
  const [top, folder] = relative('server/src', path).split('/')
  return top === 'reading' ? folder : undefined
}

type Feature = { area: string; noun: string; folder: string; file: string }

/** The feature module of a file under `resources/<area>/<noun>/`. */
function featureOf(path: string): Feature | undefined {
  const [top, area, noun, ...inside] = relative('server/src', path).split('/')
  if (top !== 'resources' || !area || !noun || inside.length === 0) return undefined
  return { area, noun, folder: `${area}/${noun}`, file: inside.join('/') }
}

/** The own files that each file imports, by path in the repository. */
export function importGraph(tree: Tree): Map<string, string[]> {
  return new Map(productFiles(tree).map((file) => [file, importsOf(tree, file).flatMap((name) => ownFile(tree, file, name))]))
}

function ownFile(tree: Tree, from: string, name: string): string[] {
  const [, owner, inside = 'index'] = /^@dendro\/(\w+)(?:\/(.+))?$/.exec(name) ?? []
  const file = owner ? `${owner}/src/${inside}.ts` : join(dirname(from), name)
  return tree.has(file) ? [file] : []
}

function reaches(graph: ReadonlyMap<string, readonly string[]>, from: string, to: string, seen = new Set<string>()): boolean {
  return (graph.get(from) ?? []).some((next) => {
    if (next === to) return true
    if (seen.has(next)) return false
    seen.add(next)
    return reaches(graph, next, to, seen)
  })
}
