import type { Service } from './service.ts'

const BODY_LINES = 10_000

type Answering = Pick<Service, 'url' | 'key'>

/** ask sends one request to the service and gives back its answer, whatever the status. */
export async function ask<T>(
  { url }: Pick<Service, 'url'>,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<{ status: number; body: T }> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-service-api-key': key, 'content-type': type },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as T }
}

/** newTenant makes an organization and gives back as many of its keys. */
export async function newTenant(service: Answering, name: string, keys: number): Promise<string[]> {
  const made = await ask<{ first_key?: string }>(service, service.key, 'POST', '/organizations', { name })
  const first = made.body.first_key
  if (made.status >= 300 || first === undefined) throw new Error(`POST /organizations: ${made.status} ${JSON.stringify(made.body)}`)
  const more = Array.from({ length: keys - 1 }, async (_, n) => {
    const reply = await ask<{ key: string }>(service, first, 'POST', '/api-keys', { name: `key ${n}`, roles: ['AdminApi'] })
    return reply.body.key
  })
  return [first, ...(await Promise.all(more))]
}

/** requestLines are events of a service, each with a message of its own. */
export const requestLines = (count: number, from: number): string =>
  Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      message: `request ${from + n} of user ${(from + n) % 5_000} took ${(n * 7) % 900} ms`,
      level: n % 9 === 0 ? 'error' : 'info',
      ms: n % 900,
    }),
  ).join('\n')

export async function fillWithRequests(service: Answering, key: string, events: number): Promise<void> {
  for (let from = 0; from < events; from += BODY_LINES) {
    const reply = await ask(service, key, 'POST', '/ingest', requestLines(BODY_LINES, from), 'application/x-ndjson')
    if (reply.status !== 200) throw new Error(`POST /ingest: ${reply.status}`)
  }
}
