import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { delayP99Ms, recordDelaysInto } from '../../test/support/loop-delays.ts'
import { freePort, type Service, startService, untilOk } from '../stand/service.ts'
import { type DataFile, type DataKind, isTextKind } from './data.ts'
import { activeBytes, filesBytes, type Merged, mergeFully } from './disk.ts'
import type { LoadTarget } from './load.ts'
import { ruleDrafts } from './rule-drafts.ts'

/** A store of events to measure; `sent` describes its input in the table, and `leavesOut` one that does not keep every event. */
export type System = { name: string; leavesOut?: boolean; sent: (data: DataFile) => string; start(dir: string): Promise<Running> }

export type Running = {
  pid: number
  /** The target and the file to send. */
  target(data: DataFile): LoadTarget & { file: string }
  /** Starts to watch the event loop of the responding program; after the end of the system it returns the delays. */
  lag?(): Promise<() => Promise<() => Lag>>
  /** The current size of the events, without what the system only keeps until it is removed. */
  diskBytes(): Promise<number>
  /** Merges everything and stops the system. */
  end(): Promise<Merged>
  /** Ends a failed system. */
  kill(): Promise<unknown>
}

/** Delays of event loop turns, and the CPU time of the turns themselves. */
export type Lag = { p50Ms: number; p99Ms: number; maxMs: number; ownP99Ms: number }

const PROTOBUF = 'application/x-protobuf'
const OTLP_SENT = 'OTLP/HTTP protobuf, made before'

/** The service as shipped, with both embedded stores. `prepare` runs before it is measured. */
const dendroThat = (name: string, prepare?: (service: Service) => Promise<void>): System => ({
  name,
  sent: ({ kind }) =>
    kind === 'otlp' ? OTLP_SENT : isTextKind(kind) ? 'the lines as they are, text/plain' : 'the lines as they are, application/x-ndjson',
  start: async (dir) => {
    const delays = `${dir}.delays`
    const service = await startService(dir, recordDelaysInto(delays))
    await prepare?.(service)
    return {
      pid: service.pid,
      target: ({ kind, file }) => ({
        file,
        url: `${service.url}${kind === 'otlp' ? '/v1/logs' : '/ingest'}`,
        headers: {
          'x-service-api-key': service.key,
          'x-service-dataset': `bench-${kind}`,
          'content-type': kind === 'otlp' ? PROTOBUF : isTextKind(kind) ? 'text/plain' : 'application/x-ndjson',
        },
      }),
      lag: async () => {
        const fromMs = Date.now()
        await delayOf(service)
        return async () => {
          const delay = await delayOf(service)
          const untilMs = Date.now()
          return () => {
            const ownP99Ms = delayP99Ms(delays, fromMs, untilMs)
            rmSync(delays)
            return { ...delay, ownP99Ms }
          }
        }
      },
      diskBytes: () => activeBytes(dir),
      end: async () => {
        await service.stop()
        return mergeFully(dir)
      },
      kill: service.stop,
    }
  },
})

export const dendro = dendroThat('Dendro')
export const dendroWithRules: System = {
  ...dendroThat('Dendro, ten rules', async ({ url, key }) => {
    for (const [at, draft] of ruleDrafts.entries()) {
      const body = JSON.stringify({ name: `rule ${at + 1}`, from_expr: '*', ...draft })
      const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
      const answer = await fetch(`${url}/ingest-rules`, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(`the rule was refused: ${answer.status} ${await answer.text()}`)
    }
  }),
  leavesOut: true,
}

/** LAG_PRECISION_MS is how often the service looks at the time; that much passes between two looks when nothing delays them. */
const LAG_PRECISION_MS = 10

/** Reads the event loop delay from the metrics of the service; each read starts a new interval. */
async function delayOf({ url, key }: Service): Promise<Omit<Lag, 'ownP99Ms'>> {
  const answer = await fetch(`${url}/metrics`, { headers: { 'x-service-api-key': key } })
  const text = await answer.text()
  const read = (name: string) =>
    Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (.+)$`, 'm').exec(text)?.[1]) * 1e3 - LAG_PRECISION_MS
  return { p50Ms: read('p50'), p99Ms: read('p99'), maxMs: read('max') }
}

/** The stream, time and message fields, as the documentation recommends. */
const JSON_FIELDS = '_stream_fields=service,host&_time_field=timestamp&_msg_field=message'
const SAMPLED_FIELDS: Partial<Record<DataKind, string>> = {
  real: '_stream_fields=app,host&_time_field=@timestamp&_msg_field=log',
  nested: '_time_field=@timestamp',
}
const fieldsOf = (kind: DataKind): string => SAMPLED_FIELDS[kind] ?? JSON_FIELDS
/** FLUSHED_MS is longer than events stay in memory. */
const FLUSHED_MS = 7_000

/** The program at a path, with default settings except for retention, which would drop data older than a week. */
export const victoriaLogs = (program: string): System => ({
  name: 'VictoriaLogs',
  sent: ({ kind }) =>
    kind === 'otlp'
      ? OTLP_SENT
      : isTextKind(kind)
        ? 'JSON lines of _time and _msg, made before'
        : `the lines as they are, ${fieldsOf(kind)}`,
  start: async (dir) => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const settings = [`-storageDataPath=${dir}`, `-httpListenAddr=127.0.0.1:${port}`, '-retentionPeriod=100y', '-loggerLevel=ERROR']
    const child = spawn(program, settings, { stdio: ['ignore', 'ignore', 'inherit'] })
    await untilOk(`${url}/health`, child)
    return {
      pid: child.pid ?? 0,
      target: ({ kind, jsonFile }) => ({
        file: jsonFile,
        url: `${url}/insert/${kind === 'otlp' ? 'opentelemetry/v1/logs' : `jsonline${isTextKind(kind) ? '' : `?${fieldsOf(kind)}`}`}`,
        headers: { 'content-type': kind === 'otlp' ? PROTOBUF : 'application/stream+json' },
      }),
      diskBytes: () => filesBytes(dir),
      end: async () => {
        const rows = await countRows(url)
        await call(`${url}/internal/force_merge`)
        await steady(() => filesBytes(dir))
        const mergedBytes = await filesBytes(dir)
        await stop(child)
        return { rows, mergedBytes, lateCpuS: 0 }
      },
      kill: () => stop(child),
    }
  },
})

async function countRows(url: string): Promise<number> {
  await call(`${url}/internal/force_flush`)
  const answer = await call(`${url}/select/logsql/query?query=${encodeURIComponent('* | stats count() as rows')}`)
  return Number((JSON.parse(answer) as { rows: string }).rows)
}

async function call(url: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`)
  return text
}

/** Waits until a size has not changed for as long as events may stay in memory. */
async function steady(size: () => Promise<number>): Promise<void> {
  for (let last = -1, now = await size(); now !== last; ) {
    await new Promise((done) => setTimeout(done, FLUSHED_MS))
    ;[last, now] = [now, await size()]
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
