import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { DataFile } from './ingest-data.ts'
import { victoriaLogs } from './ingest-systems.ts'
import { newDataDir, removeDataDir } from './service.ts'

/** VictoriaLogs with the same events. */
export type Peer = { ask(logsQl: string): Promise<string>; close(): Promise<void> }

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
  return {
    ask: async (logsQl) => (await fetch(`${origin}/select/logsql/query?query=${encodeURIComponent(logsQl)}`, { method: 'POST' })).text(),
    close: async () => {
      await running.kill()
      await removeDataDir(dir)
    },
  }
}
