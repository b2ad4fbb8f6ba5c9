import type { TimeRange } from '@dendro/language/time-range'
import type { Service } from '../stand/service.ts'

/** Sends a request to a service, with its first key or another, and returns the text of the response. */
export type Send = (method: string, path: string, body?: unknown, key?: string) => Promise<string>

export const senderTo =
  (service: Service): Send =>
  async (method, path, body, key = service.key) => {
    const answer = await fetch(service.url + path, {
      method,
      headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text
  }

/** The body of a search of one dataset. */
export const searchOf = (logId: string, { fromMs, toMs }: TimeRange, body: Record<string, unknown>): Record<string, unknown> => ({
  from: [logId],
  from_ts: fromMs,
  to_ts: toMs,
  ...body,
})
