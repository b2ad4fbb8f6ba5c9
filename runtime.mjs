// Plain JavaScript without dependencies: it runs on Node 18 and newer, before anything is installed.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(fileURLToPath(import.meta.url))
export const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** How often a program that npm started looks whether its shell has ended. */
const ORPHAN_CHECK_MS = 250

const NODE_MIN = [24, 7]
const NODE_FETCHED = '24.21.0'

/** ensureNode returns the path of Node 24: the current Node, or one downloaded from npm into .runtime/ if the current one is too old. */
export async function ensureNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return process.execPath
  const name = `node-${platform}`
  const kept = join(root, '.runtime', NODE_FETCHED)
  const program = join(kept, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(program)) {
    say(`Node ${process.versions.node} is too old: downloading Node ${NODE_FETCHED} (once, into .runtime)`)
    const draft = `${kept}.${process.pid}`
    mkdirSync(draft, { recursive: true })
    writeFileSync(join(draft, 'package.json'), '{ "private": true }\n')
    await npm(['install', '--prefix', draft, '--no-save', '--no-package-lock', `${name}@${NODE_FETCHED}`], draft)
    rmSync(kept, { recursive: true, force: true })
    renameSync(draft, kept)
  }
  return program
}

/** npm runs the npm that started this program, with its own Node. */
export async function npm(args, cwd) {
  const cli = process.env.npm_execpath
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const byNode = cli !== undefined && /\.c?js$/.test(cli)
  const status = await spawned(byNode ? process.execPath : 'npm', [...(byNode ? [cli] : []), ...args, ...quiet], {
    cwd,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error(`npm ${args[0]} failed; see its message above`)
}

/** spawned runs a program, forwards signals to it, and returns its exit status. */
export function spawned(program, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, shell: process.platform === 'win32' && program === 'npm' })
    const pass = (signal) => child.kill(signal)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass)
    const watch = whenOrphaned(() => pass('SIGTERM'))
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      clearInterval(watch)
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, pass)
      resolve(code ?? (signal ? 1 : 0))
    })
  })
}

/**
 * npm runs its scripts in a shell. A signal to npm ends that shell, which does not pass it on. A program that was started by hand may outlive its shell.
 */
function whenOrphaned(run) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return undefined
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    run()
  }, ORPHAN_CHECK_MS)
  return watch
}

export function say(sentence) {
  process.stderr.write(`${sentence}\n`)
}
