import type { Service } from './service.ts'

const BODY_LINES = 10_000

type ServiceAccess = Pick<Service, 'url' | 'key'>

/** Sends one request to the service and returns its reply, whatever the status. */
export async function sendRequest<T>(
  { url }: Pick<Service, 'url'>,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<{ status: number; body: T }> {
  const reply = await fetch(url + path, {
    method,
    headers: { 'x-service-api-key': key, 'content-type': type },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: reply.status, body: (await reply.json()) as T }
}

/** Creates an organization and returns this many API keys of it. */
export async function newTenant(service: ServiceAccess, name: string, keys: number): Promise<string[]> {
  const created = await sendRequest<{ first_key?: string }>(service, service.key, 'POST', '/organizations', { name })
  const first = created.body.first_key
  if (created.status >= 300 || first === undefined)
    throw new Error(`POST /organizations: ${created.status} ${JSON.stringify(created.body)}`)
  const more = Array.from({ length: keys - 1 }, async (_, n) => {
    const reply = await sendRequest<{ key: string }>(service, first, 'POST', '/api-keys', { name: `key ${n}`, roles: ['AdminApi'] })
    return reply.body.key
  })
  return [first, ...(await Promise.all(more))]
}

/** Returns events of a service, each with a different message. */
export const requestLines = (count: number, from: number): string =>
  Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      message: `request ${from + n} of user ${(from + n) % 5_000} took ${(n * 7) % 900} ms`,
      level: n % 9 === 0 ? 'error' : 'info',
      ms: n % 900,
    }),
  ).join('\n')

export async function fillWithRequests(service: ServiceAccess, key: string, events: number): Promise<void> {
  for (let from = 0; from < events; from += BODY_LINES) {
    const reply = await sendRequest(service, key, 'POST', '/ingest', requestLines(BODY_LINES, from), 'application/x-ndjson')
    if (reply.status !== 200) throw new Error(`POST /ingest: ${reply.status}`)
  }
}
