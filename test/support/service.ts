import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { copyMadeEvents } from '../../server/src/events/store/engine.fixture.ts'
import { copyMadeMeta } from '../../server/src/meta/database.fixture.ts'

const root = resolve(import.meta.dirname, '../..')
/** Lets a program write down its statements as the tests do, where they are recorded. */
export const recordingArgs =
  process.env.DENDRO_TEST_STATEMENTS === undefined ? [] : ['--import', join(root, 'test/runner/record-statements.ts')]
/** PATIENCE_MS only ends a test that waits for what never comes. */
const PATIENCE_MS = 240_000

/** The real program as a child process, with its output; it has an address once it greets. */
export type Service = { child: ChildProcess; readonly url: string; said: () => string; complained: () => string }

const running = new Set<ChildProcess>()

/**
 * Runs `dendro start` on a data directory and does not wait for it. The port is chosen when the service listens: a port that is free now may be taken
 * by the time the stores are open.
 */
export function startService(dir: string, env: Record<string, string> = {}, command: readonly string[] = []): Service {
  return startProgram(dir, env, [...command, process.execPath, ...recordingArgs, join(root, 'server/src/main.ts'), 'start'])
}

/** Fills a data directory with empty stores, which takes a tenth of the CPU time of letting the service make them. */
export async function copyMadeStores(dir: string): Promise<void> {
  await copyMadeEvents(dir)
  await copyMadeMeta(dir)
}

/** Runs another command of the program, such as `recover`, on a data directory. */
export const startCommand = (dir: string, command: readonly string[], env: Record<string, string> = {}): Service =>
  startProgram(dir, env, [process.execPath, ...recordingArgs, join(root, 'server/src/main.ts'), ...command])

/** Runs a program as the service is run. */
export function startProgram(dir: string, env: Record<string, string>, [program = '', ...args]: readonly string[]): Service {
  const child = spawn(program, args, {
    env: {
      ...process.env,
      DENDRO_DATA_DIR: dir,
      DENDRO_PORT: '0',
      DENDRO_LOG_LEVEL: 'warn',
      DENDRO_MEMORY: '2G',
      DENDRO_CANARY: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const [said, complained] = [textOf(child.stdout), textOf(child.stderr)]
  return {
    child,
    get url() {
      const [, address] = /Dendro listens on +(\S+)/.exec(said()) ?? []
      if (address === undefined) throw new Error('the service has not greeted yet, it has no address')
      return address
    },
    said,
    complained,
  }
}

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  let text = ''
  stream?.on('data', (chunk) => {
    text += chunk
  })
  return () => text
}

/** What a service says of stores that answer late, which they may on a busy machine. */
const LATE_STORES = [
  'child does not answer',
  'the outcome of an insert is unknown; checking the event store',
  'sequence numbers could not be claimed yet',
  'the ledger could not be written yet',
  'samples of lines could not be written yet',
]

/** What a service complained of, line by line, without stores that answered late. */
export const complaintsOf = ({ complained }: Service): string[] =>
  complained()
    .split('\n')
    .filter((line) => line !== '' && !LATE_STORES.some((late) => line.includes(late)))

export const isUp = ({ said }: Service): boolean => said().includes('Stop with Ctrl-C')

/** Waits until the service greets, and fails with its error output if it exits instead. */
export async function untilUp(service: Service): Promise<Service> {
  await until(() => isUp(service) || hasLeft(service))
  if (hasLeft(service)) throw new Error(`the service left with status ${service.child.exitCode}: ${service.complained()}`)
  return service
}

const hasLeft = ({ child }: Service): boolean => child.exitCode !== null || child.signalCode !== null

/** The exit status of a service that stops by itself, and its error output. */
export async function ended(service: Service): Promise<{ status: number | null; complained: string }> {
  await until(() => hasLeft(service))
  return { status: service.child.exitCode, complained: service.complained() }
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exit = once(child, 'exit')
  child.kill(signal)
  const [code] = await exit
  return code
}

/** Kills all services that a test left running. */
export async function killServices(): Promise<void> {
  for (const child of running) await stop(child, 'SIGKILL')
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error('the condition was not met in time')
    await new Promise((done) => setTimeout(done, 50))
  }
}

export const statusOf = (url: string, headers: Record<string, string> = {}): Promise<number> =>
  fetch(url, { headers }).then(
    (answer) => answer.status,
    () => 0,
  )

/** The processes whose command line contains the data directory. */
export const processesOf = (dir: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => existsSync(`/proc/${name}/cmdline`) && commandOf(name).includes(dir))
    .map(Number)

export function commandOf(pid: string | number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
