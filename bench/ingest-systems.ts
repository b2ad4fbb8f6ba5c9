import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type DataFile, isTextKind } from './ingest-data.ts'
import { activeBytes, filesBytes, mergeFully } from './ingest-disk.ts'
import type { LoadTarget } from './ingest-load.ts'
import { freePort, type Service, startService, untilOk } from './service.ts'
import { longestTurn, turnsInto } from './turns.ts'

/** A System is a store of events under measurement; what it is sent is said in the table. */
export type System = { name: string; sent: (data: DataFile) => string; start(dir: string): Promise<Running> }

export type Running = {
  pid: number
  /** target is where the data goes, and in which of its files. */
  target(data: DataFile): LoadTarget & { file: string }
  /** lag begins to watch the event loop of the program that answers; after the end of the system it says what there was until then. */
  lag?(): Promise<() => Promise<() => Lag>>
  /** diskBytes is what the events take as things stand, without what the system only keeps until it is removed. */
  diskBytes(): Promise<number>
  /** end merges everything, says how many events there are and what they take, and stops the system. */
  end(): Promise<{ rows: number; mergedBytes: number }>
  /** kill ends a system that failed. */
  kill(): Promise<unknown>
}

/** Lag is what delayed turns of an event loop, and what they took themselves on the processor. */
export type Lag = { p50Ms: number; p99Ms: number; maxMs: number; ownP99Ms: number }

/** dendro is the service as it is shipped, with both stores of its own. */
export const dendro: System = {
  name: 'Dendro',
  sent: ({ kind }) => (isTextKind(kind) ? 'the lines as they are, text/plain' : 'the lines as they are, application/x-ndjson'),
  start: async (dir) => {
    const turns = `${dir}.turns`
    const service = await startService(dir, turnsInto(turns))
    return {
      pid: service.pid,
      target: ({ kind, file }) => ({
        file,
        url: `${service.url}/ingest`,
        headers: {
          'x-service-api-key': service.key,
          'x-service-dataset': `bench-${kind}`,
          'content-type': isTextKind(kind) ? 'text/plain' : 'application/x-ndjson',
        },
      }),
      lag: async () => {
        const fromMs = Date.now()
        await delayOf(service)
        return async () => {
          const delay = await delayOf(service)
          const untilMs = Date.now()
          return () => {
            const ownP99Ms = longestTurn(turns, fromMs, untilMs)
            rmSync(turns)
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
}

/** LAG_PRECISION_MS is how often the service looks at the time; that much passes between two looks when nothing delays them. */
const LAG_PRECISION_MS = 10

/** delayOf reads what the service tells of its event loop; each look begins a new time. */
async function delayOf({ url, key }: Service): Promise<Omit<Lag, 'ownP99Ms'>> {
  const answer = await fetch(`${url}/metrics`, { headers: { 'x-service-api-key': key } })
  const text = await answer.text()
  const read = (name: string) =>
    Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (.+)$`, 'm').exec(text)?.[1]) * 1e3 - LAG_PRECISION_MS
  return { p50Ms: read('p50'), p99Ms: read('p99'), maxMs: read('max') }
}

/** JSON_FIELDS say what makes a stream, what the time and what the message, as its documentation advises. */
const JSON_FIELDS = '_stream_fields=service,host&_time_field=timestamp&_msg_field=message'
/** FLUSHED_MS is longer than events stay in memory. */
const FLUSHED_MS = 7_000

/** victoriaLogs is the program at a path, with its own settings but for retention, which would throw away what is older than a week. */
export const victoriaLogs = (program: string): System => ({
  name: 'VictoriaLogs',
  sent: ({ kind }) => (isTextKind(kind) ? 'JSON lines of _time and _msg, made before' : `the lines as they are, ${JSON_FIELDS}`),
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
        url: `${url}/insert/jsonline${isTextKind(kind) ? '' : `?${JSON_FIELDS}`}`,
        headers: { 'content-type': 'application/stream+json' },
      }),
      diskBytes: () => filesBytes(dir),
      end: async () => {
        const rows = await countRows(url)
        await call(`${url}/internal/force_merge`)
        await steady(() => filesBytes(dir))
        const mergedBytes = await filesBytes(dir)
        await stop(child)
        return { rows, mergedBytes }
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

/** steady waits until a size does not change any more for as long as events may stay in memory. */
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
