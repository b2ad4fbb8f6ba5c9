import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestBucket, type TestBucket } from '../../server/src/files/bucket.fixture.ts'
import { copyMadeStores, ended, killServices, type Service, startCommand, startService, stop, until, untilUp } from '../support/service.ts'

const KEY = 'dk_heron-9-ladders-and-a-bucket-of-plums'
const POST_EVENTS = 200

const root = await mkdtemp(join(tmpdir(), 'dendro-backup-journey-'))
let bucket: TestBucket

beforeAll(async () => {
  bucket = await startTestBucket()
})
afterEach(killServices)
afterAll(async () => {
  await bucket?.close()
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function ask<T>({ url }: Service, method: string, path: string, body?: string): Promise<T> {
  const headers = { 'x-service-api-key': KEY, 'content-type': path === '/' ? 'application/x-ndjson' : 'application/json' }
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

type Task = { id: string; status: string; backup?: string; failure_detail?: string; rows?: number }

/** Waits for a task that must come to a good end. */
async function done(service: Service, task: Task): Promise<Task> {
  let last = task
  await until(async () => {
    last = await ask<Task>(service, 'GET', `/backups/tasks/${task.id}`)
    return last.status === 'COMPLETE' || last.status === 'FAILED'
  })
  expect(last).toMatchObject({ status: 'COMPLETE' })
  return last
}

/** Sends numbered events until its end is requested. `acknowledged` are the numbers that have been answered with success. */
function sender(service: Service, first: number) {
  const acknowledged: number[] = []
  let isStopped = false
  const send = async (): Promise<void> => {
    for (let next = first; !isStopped; next += POST_EVENTS) {
      const numbers = Array.from({ length: POST_EVENTS }, (_, at) => next + at)
      await ask(service, 'POST', '/', numbers.map((n) => `{"n": ${n}, "message": "sold"}`).join('\n'))
      acknowledged.push(...numbers)
    }
  }
  const sending = send()
  return {
    acknowledged,
    end: async () => {
      isStopped = true
      await sending
    },
  }
}

/** The numbers of all events, each of which may be there once. */
async function numbersIn(service: Service): Promise<Set<number>> {
  const order = { search_details: { from_expr: "dataset = 'default'", time_range: 'Last 1 day' } }
  const { export_id: id } = await ask<{ export_id: string }>(service, 'POST', '/exports', JSON.stringify(order))
  let location = ''
  await until(async () => {
    location = (await ask<{ location: string }>(service, 'GET', `/exports/${id}`)).location
    return location !== ''
  })
  const lines = (await (await fetch(location)).text()).split('\n').filter(Boolean)
  const numbers = lines.map((line) => Number(JSON.parse(line).n))
  expect(new Set(numbers).size).toBe(numbers.length)
  return new Set(numbers)
}

/** Runs restore-backup to its end and returns its exit status with its complaints. */
const restore = (dir: string, place: string, args: readonly string[] = []) =>
  ended(startCommand(dir, ['restore-backup', ...args], { DENDRO_BACKUP_URL: place }))

test.each([
  ['a directory', () => `file://${join(root, 'place')}`],
  ['a bucket', () => bucket.url],
])(
  'backups in %s, made and killed under load, bring back every acknowledged event on another machine',
  async (kind, placeOf) => {
    const place = placeOf()
    const env = { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_BACKUP_URL: place, DENDRO_RATE_LIMIT: 'off' }
    const dir = join(root, kind.replace(' ', '-'))
    await mkdir(dir)
    await copyMadeStores(dir)
    let service = await untilUp(startService(dir, env))
    const load = sender(service, 0)
    await until(() => load.acknowledged.length > 1_000)
    const whole = await done(service, await ask<Task>(service, 'POST', '/backups'))
    await until(() => load.acknowledged.length > 3_000)
    const before = [...load.acknowledged]
    const next = await done(service, await ask<Task>(service, 'POST', '/backups'))
    expect(next.backup).not.toBe(whole.backup)
    await load.end()
    // Killed in the middle of a third one, or just before or after: the second one stays as it is.
    await ask<Task>(service, 'POST', '/backups')
    await stop(service.child, 'SIGKILL')
    service = await untilUp(startService(dir, env))
    await until(async () => (await ask<{ tasks: Task[] }>(service, 'GET', '/backups')).tasks.every(({ status }) => status === 'COMPLETE'))
    await done(service, await ask<Task>(service, 'POST', `/backups/${next.backup}/verifications`))
    await stop(service.child, 'SIGTERM')

    const other = join(root, `${kind.replace(' ', '-')}-restored`)
    await mkdir(other)
    expect(await restore(other, place)).toMatchObject({
      status: 1,
      complained: expect.stringContaining('copy master.key of the deployment'),
    })
    for (const secret of ['master.key', 'jwt.key']) await cp(join(dir, secret), join(other, secret))
    expect(await restore(other, place, [next.backup ?? ''])).toMatchObject({ status: 0 })
    expect(await restore(other, place)).toMatchObject({ status: 1, complained: expect.stringContaining('without stores') })
    const restored = await untilUp(startService(other, env))
    // The task that made this backup was open in its copy of the metadata. It has ended, and nothing begins it again.
    const { tasks } = await ask<{ tasks: Task[] }>(restored, 'GET', '/backups')
    expect(tasks.map(({ backup, status }) => [backup, status])).toEqual([
      [next.backup, 'COMPLETE'],
      [whole.backup, 'COMPLETE'],
    ])
    const numbers = await numbersIn(restored)
    expect(before.filter((n) => !numbers.has(n))).toEqual([])
    const sent = new Set(load.acknowledged)
    expect([...numbers].filter((n) => !sent.has(n))).toEqual([])
    await ask(restored, 'POST', '/', '{"n": -1, "message": "after the restore"}')
    expect((await numbersIn(restored)).has(-1)).toBe(true)
  },
  300_000,
)
