// Plain JavaScript without dependencies: it runs on Node 18 and newer, before anything is installed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureNode, npm, platform, say, spawned } from './runtime.mjs'

const root = dirname(fileURLToPath(import.meta.url))

const WORKSPACES = ['api', 'language', 'server', 'cli', 'web', 'test', 'bench', 'clients/javascript']
/** These commands serve the web app, so they rebuild it when its sources have changed. */
const NEEDS_WEB = ['start', 'dev', 'test', 'check', 'build', 'build-web', 'screens', 'pictures']

/** The engine's library is published per platform, and the lock file cannot always name it, so it is installed separately when missing. */
const ENGINE_VERSION = '26.7.3-stable.1'
const ENGINES = {
  'linux-x64': '@chdb/lib-linux-x64-gnu',
  'linux-arm64': '@chdb/lib-linux-arm64-gnu',
  'darwin-arm64': '@chdb/lib-darwin-arm64',
  'darwin-x64': '@chdb/lib-darwin-x64',
}

/**
 * Node lets the young generation grow to 128 MB once much is in flight at a time, as with many live tails, and keeps it. With a quarter of that the service
 * takes no more CPU time (bench/live-tail.ts). Bodies outside the heap count toward its limit; with a limit that starts low, every few posts caused a full
 * collection (bench/ingest.ts). The Dockerfile has the same options.
 */
const SERVICE_OPTIONS = ['--max-semi-space-size=16', '--initial-old-space-size=128']

/**
 * Node keeps the code that it compiled here. It halves the time to load the service (from 1.1 to 0.5 s), and the tests start it many times.
 */
const COMPILE_CACHE = join(root, '.runtime', 'compile-cache')

/** Every command is a list of programs that run one after the other, a list within it side by side; the first failure ends it. */
const commands = {
  start: (rest) => [node(...SERVICE_OPTIONS, 'server/src/main.ts', 'start', ...rest)],
  dev: (rest) => [
    node(
      ...SERVICE_OPTIONS,
      '--watch-preserve-output',
      '--watch-path=server/src',
      '--watch-path=language/src',
      '--watch-path=api/src',
      'server/src/main.ts',
      'dev',
      ...rest,
    ),
  ],
  doctor: (rest) => [node('server/src/main.ts', 'doctor', ...rest)],
  size: (rest) => [node('server/src/size.ts', ...rest)],
  recover: (rest) => [node('server/src/main.ts', 'recover', ...rest)],
  seed: (rest) => [node('cli/src/main.ts', 'seed', ...rest)],
  screens: (rest) => [node('test/web/screens.ts', ...rest)],
  pictures: (rest) => [node('test/web/readme-pictures.ts', ...rest)],
  test: (rest) => [tool('vitest', 'run', ...rest)],
  nightly: (rest) => [node('test/programs/nightly.ts', ...rest)],
  'replay-statements': (rest) => [node('test/programs/replay-statements.ts', ...rest)],
  'release-check': (rest) => [node('test/programs/release-check.ts', ...rest)],
  'build-web': () => [],
  'build-kernel': () => [node('server/src/lines/kernel/build.ts'), node('server/src/lines/search/build.ts')],
  build: () => [checkTypes(), node('cli/build.ts'), node('clients/typescript/build.ts')],
  // The packages to publish; `npm pack` runs it where install scripts are on.
  bundle: () => [node('cli/build.ts'), node('clients/typescript/build.ts')],
  fix: () => [tool('@biomejs/biome', 'check', '--write')],
  static: () => [staticChecks()],
  check: (rest) => [staticChecks(), tool('vitest', 'run', ...rest)],
}

const [command = 'start', ...rest] = process.argv.slice(2)
if (!Object.hasOwn(commands, command)) {
  say(`unknown command ${command}; there are ${Object.keys(commands).join(', ')}`)
  process.exit(2)
}
try {
  const runtime = await ensureNode()
  await ensureInstalled()
  if (NEEDS_WEB.includes(command)) await ensureWebBuilt(runtime)
  for (const step of commands[command](rest)) {
    const isSideBySide = Array.isArray(step) && step.every((program) => typeof program === 'function')
    const statuses = await Promise.all((isSideBySide ? step : [step]).map((args) => run(runtime, args)))
    const failed = statuses.find((status) => status !== 0)
    if (failed !== undefined) process.exit(failed)
  }
} catch (thrown) {
  say(`dendro: ${thrown.message}`)
  process.exit(1)
}

/** Formatting, lint, types and dead code. */
function staticChecks() {
  return [tool('@biomejs/biome', 'check', '--error-on-warnings'), checkTypes(), tool('knip')]
}

/**
 * The native compiler takes a third of the CPU time, and on one thread half of that. It has no library for programs yet: those that read syntax trees
 * use the package `typescript`, one version older.
 */
function checkTypes() {
  return tool('typescript-native', '-b', '--singleThreaded')
}

function node(...args) {
  return args
}

/** tool is a program from node_modules, run by our Node whatever its first line says. */
function tool(name, ...args) {
  return () => {
    const home = join(root, 'node_modules', name)
    const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
    const programs = typeof bin === 'string' ? [bin] : [bin.tsc ?? bin[name.split('/').pop()]]
    return [join(home, programs[0]), ...args]
  }
}

/** ensureInstalled installs packages when the lock file, a package.json or the platform has changed. */
async function ensureInstalled() {
  const stamp = join(root, 'node_modules', '.dendro-installed')
  const state = installState()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return
  say('Installing packages (once; about a minute on the first start)')
  // `ci` installs exactly the lock file, but deletes node_modules first, which breaks a running service and fails offline. With existing packages,
  // `install --no-save` installs only changes from the lock file and does not modify it.
  await npm(existsSync(join(root, 'node_modules')) ? ['install', '--no-save'] : ['ci'], root)
  await ensureEngine()
  writeFileSync(stamp, state)
}

/** ensureWebBuilt builds the web app when its sources or packages have changed since the last build. */
async function ensureWebBuilt(runtime) {
  const stamp = join(root, 'web', 'dist', '.built')
  const hash = createHash('sha256').update(installState())
  const sources = [
    'web/index.html',
    'web/vite.config.ts',
    ...filesIn('web/src'),
    ...filesIn('language/src'),
    ...filesIn('api/src'),
    ...filesIn('api/senders'),
  ]
  for (const file of sources.sort()) hash.update(file).update(readFileSync(join(root, file)))
  const state = hash.digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return
  say('Building the web app')
  const status = await run(runtime, tool('vite', 'build', 'web', '--logLevel', 'warn'))
  if (status !== 0) throw new Error('the web app could not be built')
  writeFileSync(stamp, state)
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
}

function installState() {
  const hash = createHash('sha256').update(platform)
  for (const file of ['package-lock.json', 'package.json', ...WORKSPACES.map((name) => join(name, 'package.json'))]) {
    hash.update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

async function ensureEngine() {
  const name = ENGINES[platform]
  if (!name || existsSync(join(root, 'node_modules', name, 'package.json'))) return
  try {
    await npm(['install', '--no-save', '--no-package-lock', `${name}@${ENGINE_VERSION}`], root)
  } catch {
    say(`The embedded event store is not available for ${platform}; set DENDRO_CLICKHOUSE_URL to use a server.`)
  }
}

function run(runtime, args) {
  const given = typeof args === 'function' ? args() : args
  const env = {
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...process.env,
    PATH: `${dirname(runtime)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`,
  }
  const native = given[0].endsWith('.exe')
  return spawned(native ? given[0] : runtime, native ? given.slice(1) : given, { cwd: root, stdio: 'inherit', env })
}
