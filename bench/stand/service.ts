import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const HEALTHY_BOUND_MS = 60_000
/** Those with which setup.mjs and the Dockerfile start the service. */
const SERVICE_OPTIONS = ['--max-semi-space-size=16', '--initial-old-space-size=128']

export type Service = { url: string; key: string; pid: number; healthyMs: number; stop(): Promise<number> }

export const BENCH_KEY = 'bench-key-0123456789abcdef0123456789abcdef'

export const newDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'dendro-bench-'))
/** Retries for a while, because the stores may still be removing files. */
export const removeDataDir = (dir: string): Promise<void> => rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })

/** Starts the real program on a data directory and waits until /health is ok; healthyMs counts from the spawn. */
export async function startService(dataDir: string, env: Record<string, string> = {}): Promise<Service> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startedMs = performance.now()
  const child = spawn(process.execPath, [...SERVICE_OPTIONS, join(root, 'server/src/main.ts'), 'start'], {
    cwd: root,
    env: {
      ...process.env,
      DENDRO_PORT: String(port),
      DENDRO_DATA_DIR: dataDir,
      DENDRO_BOOTSTRAP_API_KEY: BENCH_KEY,
      DENDRO_RATE_LIMIT: 'off',
      DENDRO_LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await untilOk(`${url}/health`, child)
  return { url, key: BENCH_KEY, pid: child.pid ?? 0, healthyMs: performance.now() - startedMs, stop: () => stop(child) }
}

/** Asks the service to stop, if it is running, and returns the duration. */
async function stop(child: ChildProcess): Promise<number> {
  if (child.exitCode !== null || child.signalCode !== null) return 0
  const startedMs = performance.now()
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
  return performance.now() - startedMs
}

export async function untilOk(address: string, child: ChildProcess): Promise<void> {
  const untilMs = performance.now() + HEALTHY_BOUND_MS
  while (performance.now() < untilMs) {
    if (child.exitCode !== null) throw new Error(`the program left with status ${child.exitCode}`)
    const ok = await fetch(address).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ok) return
    await new Promise((done) => setTimeout(done, 10))
  }
  throw new Error(`${address} was not healthy within ${HEALTHY_BOUND_MS} ms`)
}

export const freePort = async (): Promise<number> => (await freePorts(1))[0] ?? 0

/** Several ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return servers.map((server) => {
    const address = server.address()
    server.close()
    return typeof address === 'object' && address ? address.port : 0
  })
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  process.stdout.write(`${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`)
}
