import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { activeBytes } from '../ingest/disk.ts'
import { freePorts, startService, untilOk } from '../stand/service.ts'

const BLOCK_BYTES = 512

/** A store of spans that runs on an empty directory: it takes OpenTelemetry's HTTP and answers the query API of Jaeger. */
export type TraceStore = {
  readonly name: string
  readonly pid: number
  readonly headers: Record<string, string>
  /** Where spans are sent, and what the paths of queries follow. */
  readonly sendUrl: string
  readonly queryUrl: string
  /** The size of the spans on disk. */
  diskBytes(): Promise<number>
  stop(): Promise<unknown>
}

export async function startDendro(dir: string): Promise<TraceStore> {
  const { pid, url, key, stop } = await startService(dir)
  const headers = { 'x-service-api-key': key }
  return { name: 'Dendro', pid, headers, sendUrl: url, queryUrl: `${url}/jaeger`, diskBytes: () => activeBytes(dir), stop }
}

/**
 * The program at a path, with the store on disk that is built into it. Other settings are its defaults: it does not wait for the disk. Posts are
 * stored as they are sent, before they are acknowledged, and not collected in memory.
 */
export async function startJaeger(program: string, dir: string): Promise<TraceStore> {
  const [otlp, query, grpc, health] = (await freePorts(4)).map((port) => `127.0.0.1:${port}`)
  const directories = { keys: join(dir, 'keys'), values: join(dir, 'values') }
  for (const path of Object.values(directories)) await mkdir(path)
  const settings = join(dir, 'settings.json')
  await writeFile(
    settings,
    JSON.stringify({
      service: {
        extensions: ['jaeger_storage', 'jaeger_query', 'healthcheckv2'],
        pipelines: { traces: { receivers: ['otlp'], exporters: ['jaeger_storage_exporter'] } },
        telemetry: { metrics: { level: 'none' }, logs: { level: 'error' } },
      },
      extensions: {
        healthcheckv2: { use_v2: true, http: { endpoint: health } },
        jaeger_query: { storage: { traces: 'spans' }, enable_tracing: false, http: { endpoint: query }, grpc: { endpoint: grpc } },
        jaeger_storage: { backends: { spans: { badger: { directories, ephemeral: false } } } },
      },
      receivers: { otlp: { protocols: { http: { endpoint: otlp } } } },
      exporters: { jaeger_storage_exporter: { trace_storage: 'spans' } },
    }),
  )
  const child = spawn(program, ['--config', settings], { stdio: ['ignore', 'ignore', 'pipe'] })
  // It writes much that is no failure, so that its words are shown only when it does not start.
  const words = text(child.stderr)
  await untilOk(`http://${health}/status`, child).catch(async (cause) => {
    child.kill()
    throw new Error(`Jaeger did not start: ${await words}`, { cause })
  })
  return {
    name: 'Jaeger',
    pid: child.pid ?? 0,
    headers: {},
    sendUrl: `http://${otlp}`,
    queryUrl: `http://${query}`,
    diskBytes: () => usedBytes(dir),
    stop: async () => {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    },
  }
}

/** What the files below a directory take up: those of the store have room for more. */
async function usedBytes(dir: string): Promise<number> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true })
  const sizes = await Promise.all(entries.map(({ parentPath, name }) => stat(join(parentPath, name)).catch(() => undefined)))
  return sizes.reduce((sum, found) => sum + (found?.blocks ?? 0) * BLOCK_BYTES, 0)
}
