import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { messagesOf } from './stream-messages.ts'

const REPEAT_MS = 100

/**
 * A client of a deployment behind a proxy. It sends a request until it is answered, as senders do, and notes what may not happen (`faults`) and which
 * connections broke. Only a 503 that says when to come again may be repeated.
 */
export type InsistentClient = {
  faults: string[]
  broken: string[]
  insist<T>(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<T | undefined>
  /** Follows a live tail as a browser does: it connects again after each end, with the id of the last event. `see` gets every event. */
  follow(job: string, see: (event: { message_kvs: { message: string } }) => void, until: () => boolean): Promise<void>
}

/** Sends posts of events with keys of their own, one after the other, and notes the messages of those that were answered. */
export async function sendEvents(
  client: Pick<InsistentClient, 'insist'>,
  { sender, postEvents, pauseMs }: { sender: number; postEvents: number; pauseMs: number },
  acknowledged: Set<string>,
  isOver: () => boolean,
): Promise<void> {
  for (let post = 0; !isOver(); post += 1) {
    const messages = Array.from({ length: postEvents }, (_, n) => `event ${sender}.${post}.${n}`)
    const body = messages.map((message) => JSON.stringify({ message })).join('\n')
    const answer = await client.insist('POST', '/ingest', body, { 'idempotency-key': randomUUID(), 'x-service-dataset': 'web' })
    if (answer !== undefined) for (const message of messages) acknowledged.add(message)
    await sleep(pauseMs)
  }
}

/** answerMs: how long the client waits for an answer before it sends its request again. */
export function openInsistentClient(url: string, key: string, answerMs?: number): InsistentClient {
  const faults: string[] = []
  const broken: string[] = []

  async function ask(method: string, path: string, body: string | undefined, headers: Record<string, string>): Promise<unknown> {
    for (;;) {
      const answer = await fetch(url + path, {
        method,
        headers: { 'x-service-api-key': key, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
        ...(answerMs === undefined ? {} : { signal: AbortSignal.timeout(answerMs) }),
      })
      const text = await answer.text()
      if (answer.ok) return JSON.parse(text)
      if (answer.status !== 503 || answer.headers.get('retry-after') === null) {
        faults.push(`${method} ${path}: ${answer.status} ${text}`)
        return undefined
      }
      await sleep(REPEAT_MS)
    }
  }

  async function insist<T>(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<T | undefined> {
    for (;;) {
      try {
        return (await ask(method, path, body, headers)) as T | undefined
      } catch (cause) {
        broken.push(`${method} ${path}: ${String((cause as Error).cause ?? cause)}`)
        await sleep(REPEAT_MS)
      }
    }
  }

  const follow: InsistentClient['follow'] = async (job, see, until) => {
    let last: string | undefined
    while (!until()) {
      try {
        const headers = { 'x-service-api-key': key, ...(last === undefined ? {} : { 'last-event-id': last }) }
        const response = await fetch(`${url}/live-tail/stream?job_id=${job}`, { headers })
        if (response.status !== 200) {
          if (response.status !== 503) faults.push(`the stream: ${response.status} ${await response.text()}`)
          await sleep(REPEAT_MS)
          continue
        }
        for await (const messages of messagesOf(response)) {
          for (const { id, data } of messages) {
            last = id
            see(JSON.parse(data))
          }
          if (until()) break
        }
      } catch (cause) {
        broken.push(`the stream: ${String((cause as Error).cause ?? cause)}`)
        await sleep(REPEAT_MS)
      }
    }
  }

  return { faults, broken, insist, follow }
}
