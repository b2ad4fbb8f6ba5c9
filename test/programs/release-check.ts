/**
 * Once per release: under each Node that people have, a fresh clone starts, answers the commands of the README as they are written there, stops,
 * starts again without an installation, and passes its tests. `npm run release-check -- [tests]`; naming tests, as `api/src`, leaves out the others.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { readmeCommands, readmeScripts } from '../support/readme.ts'

const MAJORS = [20, 24, 26] as const
const BOUND_MS = 20 * 60_000
/** LEFT_OUT are scripts of the README that are not run here, each with its reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'run release-check': 'it is this program',
  'run nightly': 'it takes hours',
  'run screens': 'it needs a browser',
}
const KEY = 'release-check-0123456789abcdef0123456789abcdef'
const root = resolve(import.meta.dirname, '../..')
const tests = process.argv.slice(2)

const work = await mkdtemp(join(tmpdir(), 'dendro-release-'))
let failed = 0
try {
  for (const major of MAJORS) {
    await check(major).then(
      () => say(`Node ${major}: passed`),
      (cause) => {
        failed += 1
        say(`Node ${major}: FAILED: ${cause instanceof Error ? cause.message : cause}`)
      },
    )
  }
} finally {
  await rm(work, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
say(`release check: ${MAJORS.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function check(major: number): Promise<void> {
  const path = `${await nodeBin(major)}${delimiter}${process.env.PATH ?? ''}`
  const clone = join(work, `clone-${major}`)
  await done('git', ['-c', 'advice.detachedHead=false', 'clone', '--quiet', root, clone], { cwd: work })
  const env = { ...process.env, PATH: path }
  const first = await startAndStop(clone, env, 'start', runReadme)
  if (!first.includes('Installing')) throw new Error('the first start installed nothing')
  const second = await startAndStop(clone, env, 'start')
  if (second.includes('Installing') || second.includes('downloading')) throw new Error('the second start installed something')
  for (const script of readmeScripts()) await runScript(script, clone, env)
}

/** Runs one npm command of the README, unless `startAndStop` runs it or there is a reason to skip it. */
async function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (script === 'start' || script === 'run seed') return
  const reason = LEFT_OUT[script]
  if (reason !== undefined) say(`left out: npm ${script}: ${reason}`)
  else if (script === 'run dev') await startAndStop(cwd, env, 'run dev')
  else if (script === 'test') await done('npm', ['test', '--silent', '--', ...tests], { cwd, env })
  // `npm test` runs all tests; here it stands for those that `check` would repeat.
  else if (script === 'run check') await done('npm', ['run', 'check', '--', ...(tests.length > 0 ? tests : ['api/src'])], { cwd, env })
  else await done('npm', script.split(' '), { cwd, env })
}

/** Runs the commands of the README's blocks against the running service; address and key come from the environment. */
async function runReadme(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const line of readmeCommands()) {
    if (/^(npm (start|test)|export) /.test(line)) continue
    await done('sh', ['-c', line], { cwd, env })
  }
}

/** Downloads a Node from npm and returns the directory of its program. */
async function nodeBin(major: number): Promise<string> {
  const prefix = join(work, `node-${major}`)
  await done('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error', `node@${major}`], { cwd: work })
  return join(prefix, 'node_modules', 'node', 'bin')
}

type WhileRunning = (cwd: string, env: NodeJS.ProcessEnv) => Promise<void>

/** Runs `npm start` or `npm run dev`, sends an event and stops it with Ctrl-C; returns standard error. */
async function startAndStop(cwd: string, env: NodeJS.ProcessEnv, script: 'start' | 'run dev', meanwhile?: WhileRunning): Promise<string> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startEnv = { ...env, DENDRO_PORT: String(port), DENDRO_BOOTSTRAP_API_KEY: KEY }
  // A process group of its own, to which a terminal would send the signal.
  const child = spawn('npm', script.split(' '), { cwd, env: startEnv, stdio: ['ignore', 'inherit', 'pipe'], detached: true })
  const exit = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => {
    process.stderr.write(bytes)
    said += bytes
  })
  try {
    await untilHealthy(url, child)
    const headers = { 'x-service-api-key': KEY, 'x-service-dataset': 'web' }
    const answer = await fetch(`${url}/ingest`, { method: 'POST', headers, body: '{"message": "hello"}' })
    if (!answer.ok) throw new Error(`an event was refused: ${answer.status} ${await answer.text()}`)
    await meanwhile?.(cwd, { ...env, DENDRO_URL: url, DENDRO_API_KEY: KEY, CURL_HOME: '/' })
  } finally {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
    await exit
  }
  return said
}

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  const untilMs = performance.now() + BOUND_MS
  while (performance.now() < untilMs) {
    if (child.exitCode !== null) throw new Error(`npm start left with status ${child.exitCode}`)
    const isOk = await fetch(`${url}/health`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (isOk) return
    await sleep(200)
  }
  throw new Error(`npm start was not healthy within ${BOUND_MS / 60_000} min`)
}

async function done(program: string, args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Promise<void> {
  say(`> ${program} ${args.join(' ')}`)
  const [code] = await once(spawn(program, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] }), 'exit')
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} left with status ${code}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
