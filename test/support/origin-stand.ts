import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from 'fauxqs'
import { copyMadeStores, type Service, startService, untilUp } from './service.ts'

export type OriginStand = {
  /** A directory that the service may read. */
  readonly files: string
  /** The address of a server with buckets and queues. */
  readonly endpoint: string
  /** Starts a process on the same stores. */
  start(): Promise<Service>
  ask<T>(service: Service, method: string, path: string, body?: object): Promise<T>
  /** The number of events of a dataset, and the sum of the numbers in them. */
  countIn(service: Service, logId: string): Promise<{ count: number; sum: number }>
  close(): Promise<void>
}

/** Stores beside a directory and a bucket, for processes that are killed while they read from there. */
export async function openOriginStand(key: string): Promise<OriginStand> {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-origins-'))
  const files = join(dir, 'files')
  const bucket = buildApp({ logger: false })
  const endpoint = await bucket.listen({ port: 0, host: '127.0.0.1' })
  await mkdir(files)
  await copyMadeStores(join(dir, 'data'))

  async function ask<T>({ url }: Service, method: string, path: string, body?: object): Promise<T> {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (answer.status === 204 ? undefined : await answer.json()) as T
  }

  return {
    files,
    endpoint,
    start: () =>
      untilUp(
        startService(join(dir, 'data'), {
          DENDRO_BOOTSTRAP_API_KEY: key,
          DENDRO_WEBHOOK_ALLOW: '127.0.0.1',
          DENDRO_SOURCE_DIRECTORIES: `${files}/{organization}`,
        }),
      ),
    ask,
    countIn: async (service, logId) => {
      const body = { from: [logId], select: ['sum(n) as sum'], time_range: 'Last 1 day' }
      const { totals } = await ask<{ totals: { count: number; sum: number } }>(service, 'POST', '/search', body)
      return { count: totals.count, sum: totals.sum }
    },
    close: async () => {
      await bucket.close()
      await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}
