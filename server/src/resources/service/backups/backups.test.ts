import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../../../../test/support/service.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { copyMadeEvents } from '../../../events/store/engine.fixture.ts'
import { backupSchedule, backupTasks } from './backups.ts'

type Task = { id: string; task: string; status: string; backup?: string; failure_detail?: string; rows?: number; dataset_id?: string }
type Backup = { name: string; status: string; kind?: string; base?: string; verified_at?: number; verification_failure?: string }
type List = { backups: Backup[]; tasks: Task[] }

const DAY_MS = 86_400_000
/** For tests that wait for several tasks on a busy machine. */
const SLOW_MS = 240_000
const root = await mkdtemp(join(tmpdir(), 'dendro-backup-service-'))
const dir = join(root, 'backups')
let app: TestApp
let org: TestOrganization

beforeAll(async () => {
  const dataDir = await mkdtemp(join(root, 'data-'))
  await copyMadeEvents(dataDir)
  const env = { DENDRO_CLICKHOUSE_URL: '', DENDRO_DATA_DIR: dataDir, DENDRO_BACKUP_URL: `file://${dir}`, DENDRO_BACKUP_EVERY: '1d' }
  app = await openTestApp(env, (world) => [backupTasks(world), backupSchedule(world)])
  org = await app.newOrganization()
})
afterAll(async () => {
  await app?.close()
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const ask = <T>(method: string, path: string, body?: unknown) =>
  app.ask<T>(method, path, { key: app.managementKey, ...(body === undefined ? {} : { body }) })
const list = async (): Promise<List> => (await ask<List>('GET', '/backups')).body

/** Waits for a task and returns it with its result. */
async function ended(task: Task): Promise<Task> {
  let last = task
  await until(async () => {
    last = (await ask<Task>('GET', `/backups/tasks/${task.id}`)).body
    return last.status === 'COMPLETE' || last.status === 'FAILED'
  })
  return last
}

/** Waits until nothing is under way, so that a new request is not refused. */
const idle = () => until(async () => (await list()).tasks.every(({ status }) => status === 'COMPLETE' || status === 'FAILED'))

async function backUp(): Promise<Task> {
  // The schedule may have begun one at the same time.
  let task: Task | undefined
  await until(async () => {
    const { status, body } = await ask<Task>('POST', '/backups')
    if (status !== 409) expect([status, body]).toMatchObject([202, { task: 'BACKUP', status: 'CREATED' }])
    if (status === 202) task = body
    return task !== undefined
  })
  return ended(task as Task)
}

async function post(dataset: string, lines: readonly object[]): Promise<void> {
  const raw = lines.map((line) => JSON.stringify(line)).join('\n')
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/', { raw, headers })).status).toBeLessThan(300)
}

type Found = { result: Record<string, unknown>[] }

test('the schedule makes a first backup and verifies it, and health and metrics have their ages', async () => {
  await until(async () => {
    app.clock.advance(61_000)
    return (await list()).backups.some(({ verified_at }) => verified_at !== undefined)
  })
  const { backups } = await list()
  expect(backups.at(-1)).toMatchObject({ status: 'COMPLETE', kind: 'FULL', is_own: true })
  app.clock.advance(10_000)
  const health = await app.ask<{ problems: string[]; backups: { age_s: number; verified_age_s: number } }>('GET', '/health')
  expect(health.body.problems).toEqual([])
  expect(health.body.backups.age_s).toBeGreaterThanOrEqual(10)
  expect(health.body.backups.verified_age_s).toBeGreaterThanOrEqual(10)
  const metrics = (await ask<string>('GET', '/metrics')).body
  expect(metrics).toMatch(/^dendro_backup_age_seconds \d/m)
  expect(metrics).toMatch(/^dendro_backup_verified_age_seconds \d/m)
  expect(metrics).toMatch(/^dendro_backup_failed 0$/m)
})

test('only the management organization handles backups', async () => {
  const { backups, tasks } = await list()
  const [name, task] = [backups[0]?.name ?? '', tasks[0]?.id ?? '']
  const body = { dataset: 'x' }
  for (const [method, path, given] of [
    ['GET', '/backups'],
    ['POST', '/backups'],
    ['GET', `/backups/tasks/${task}`],
    ['POST', `/backups/${name}/verifications`],
    ['POST', `/backups/${name}/datasets/${org.orgId}/restorations`, body],
  ] as const) {
    const expected = path === '/backups' ? 403 : 404
    expect([path, (await org.ask(method, path, given ? { body: given } : {})).status]).toEqual([path, expected])
  }
  expect((await ask('GET', `/backups/tasks/${org.orgId}`)).status).toBe(404)
  for (const path of ['/backups/nothing/verifications', '/backups/..%2f..%2fetc/verifications']) {
    expect([path, (await ask('POST', path)).status]).toEqual([path, 404])
  }
})

test(
  'one dataset is restored beside the living one, event by event',
  async () => {
    const lines = Array.from({ length: 500 }, (_, at) => ({
      timestamp: new Date(app.clock.nowMs() - at).toISOString(),
      order: at,
      user: `u${at % 7}`,
    }))
    await post('web', lines)
    await post('other', [{ order: 'not wanted' }])
    const { backup = '' } = await backUp()
    await post('web', [{ order: 'after the backup' }])
    const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
    const web = datasets.find(({ dataset }) => dataset === 'web')?.id ?? ''
    const pathOf = (id: string) => `/backups/${backup}/datasets/${id}/restorations`
    expect((await ask('POST', pathOf(org.orgId), { dataset: 'web-2' })).status).toBe(404)
    expect((await ask('POST', pathOf(web), { dataset: 'web' })).status).toBe(409)
    for (const [field, body] of [
      ['collection', { dataset: 'mine', collection: '.audit' }],
      ['dataset', { dataset: '.mine' }],
      ['dataset', { dataset: 'odd\u0007' }],
      ['dataset', { dataset: '  ' }],
    ] as const) {
      const refused = await ask<{ errors: { field: string }[] }>('POST', pathOf(web), body)
      expect([body, refused.status, refused.body.errors]).toMatchObject([body, 400, [{ field }]])
    }
    const task = await ended((await ask<Task>('POST', pathOf(web), { dataset: 'web-2' })).body)
    expect(task).toMatchObject({ status: 'COMPLETE', rows: 500, task: 'RESTORATION' })
    const found = async (dataset: string, where: string): Promise<unknown[]> => {
      const search = {
        from_expr: `dataset = '${dataset}'`,
        time_range: 'Last 1 day',
        where,
        select: ['@timestamp', '@raw', 'order', 'user'],
        limit: 1_000,
      }
      const { status, body } = await org.ask<Found>('POST', '/search', { body: search })
      expect([status, body]).toMatchObject([200, {}])
      return body.result.map((event) => [event['@timestamp'], event['@raw'], event.order, event.user])
    }
    const [living, restored] = [await found('web', 'user:*'), await found('web-2', '')]
    expect(living).toHaveLength(500)
    expect(living).toContainEqual([expect.anything(), expect.stringContaining('"order":499'), '499', 'u2'])
    expect(restored).toEqual(living)
    expect(await found('web-2', "user = 'u3'")).toEqual(await found('web', "user = 'u3'"))
    expect(await found('web', "order = 'after the backup'")).toHaveLength(1)
    await post('web-2', [{ order: 'later', user: 'u3' }])
    expect(await found('web-2', "order = 'later'")).toHaveLength(1)
  },
  SLOW_MS,
)

test('a policy that hides a dataset is not evaded by a restoration', async () => {
  const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
  const id = datasets.find(({ dataset }) => dataset === 'other')?.id ?? ''
  const policy = {
    policy_type: 'LOG_FORBID',
    resource: { resource_type: 'LOG', resource_id: id },
    principal: { principal_type: 'ROLE', principal_id: 'Standard' },
    actions: ['*'],
  }
  expect((await org.ask('POST', '/policies', { body: policy })).status).toBe(201)
  const name = (await list()).backups[0]?.name
  const refused = await ask('POST', `/backups/${name}/datasets/${id}/restorations`, { dataset: 'seen' })
  expect([refused.status, refused.body]).toMatchObject([409, { details: expect.stringContaining('a policy hides the dataset') }])
})

test('a second request is refused while one is under way', async () => {
  await idle()
  const [one, other] = await Promise.all([ask<Task>('POST', '/backups'), ask<Task>('POST', '/backups')])
  expect([one.status, other.status].sort()).toEqual([202, 409])
  await ended(one.status === 202 ? one.body : other.body)
})

test('a verification names the damage, and health says which backup it is', async () => {
  await idle()
  const { backup = '' } = await backUp()
  const files = (await readdir(join(dir, backup, 'metadata'))).filter((file) => file.startsWith('organisations'))
  await writeFile(join(dir, backup, 'metadata', files[0] ?? ''), 'damaged')
  const task = await ended((await ask<Task>('POST', `/backups/${backup}/verifications`)).body)
  expect(task).toMatchObject({ status: 'FAILED', failure_detail: expect.stringContaining('is damaged') })
  expect((await list()).backups.find(({ name }) => name === backup)?.verification_failure).toContain('is damaged')
  app.clock.advance(6_000)
  const { body } = await app.ask<{ status: string; problems: string[] }>('GET', '/health')
  expect([body.status, body.problems]).toEqual(['degraded', [`the backup ${backup} failed its verification`]])
})

test(
  'after a backup that failed comes a complete one, and old backups are removed once nothing builds upon them',
  async () => {
    await idle()
    const before = (await list()).backups.map(({ name }) => name)
    await rm(join(dir, before[0] ?? '', 'events', '.backup'))
    expect(await backUp()).toMatchObject({ status: 'FAILED', failure_detail: expect.stringContaining('the event store gave up') })
    const { backup: whole = '' } = await backUp()
    expect((await list()).backups.find(({ name }) => name === whole)).toMatchObject({ status: 'COMPLETE', kind: 'FULL' })
    app.clock.advance(40 * DAY_MS)
    const { backup: next = '' } = await backUp()
    await idle()
    const kept = (await list()).backups
    expect(kept.find(({ name }) => name === next)).toMatchObject({ kind: 'INCREMENTAL' })
    expect(kept.find(({ name }) => name === whole)).toMatchObject({ kind: 'FULL' })
    expect(kept.filter(({ name }) => before.includes(name) && existsSync(join(dir, name)))).toEqual([])
  },
  SLOW_MS,
)
