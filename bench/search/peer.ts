import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { DataFile } from '../ingest/data.ts'
import { victoriaLogs } from '../ingest/systems.ts'
import { newDataDir, removeDataDir } from '../stand/service.ts'
import { moved } from './ranges.ts'

/** VictoriaLogs with the same events. */
export type Peer = {
  pid: number
  /** Queries the range of all its events, moved by some milliseconds. */
  ask(logsQl: string, byMs: number): Promise<string>
  close(): Promise<void>
}

/** FLUSHED_MS is longer than events stay in memory. */
const FLUSHED_MS = 7_000

export async function openPeer(program: string, data: DataFile): Promise<Peer> {
  const dir = await newDataDir()
  const running = await victoriaLogs(program).start(dir)
  const { url, headers } = running.target(data)
  const body = Readable.toWeb(createReadStream(data.jsonFile)) as ReadableStream
  const answer = await fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  if (!answer.ok) throw new Error(`VictoriaLogs took no events: ${answer.status}`)
  await new Promise((done) => setTimeout(done, FLUSHED_MS))
  const { origin } = new URL(url)
  const query = async (parameters: Record<string, string>) => {
    const reply = await fetch(`${origin}/select/logsql/query?${new URLSearchParams(parameters)}`, { method: 'POST' })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`VictoriaLogs answered ${reply.status}: ${text}`)
    return text
  }
  // Text lines of a kept stand may be of another day than those of the file, so the range is that of its own events.
  const found = await query({ query: '* | stats min(_time) as first, max(_time) as last' })
  const { first, last } = JSON.parse(found) as { first: string; last: string }
  const all = { fromMs: Date.parse(first), toMs: Date.parse(last) + 1 }
  return {
    pid: running.pid,
    ask: (logsQl, byMs) => {
      const { fromMs, toMs } = moved(all, byMs)
      // Both ends are inclusive and in nanoseconds.
      return query({ query: logsQl, start: `${fromMs}000000`, end: `${toMs - 1}999999` })
    },
    close: async () => {
      await running.kill()
      await removeDataDir(dir)
    },
  }
}
