import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { systemIds } from '../kernel/ids.ts'
import { makeTestDatabase, silent, type TestDatabase } from '../meta/database.fixture.ts'
import type { Meta } from '../meta/meta.ts'
import { type Sql, sql } from '../meta/sql.ts'
import type { JobKind, JobRun } from './job.ts'
import { enqueue, LeaseLost, releaseDeadLeases, startWorker, type Worker, type WorkerOptions } from './jobs.ts'
import { claimJob, renewLease } from './rows.ts'

const DAY_MS = 86_400_000
const QUICK: WorkerOptions = { pollMs: 10 }

let database: TestDatabase
let meta: Meta
let shiftMs = 0
let stoppedMs: number | undefined
const clock: Clock = { ...systemClock, nowMs: () => (stoppedMs ?? systemClock.nowMs()) + shiftMs }
/** Time passes only by `shiftMs` for the rest of the test, so that nothing comes due while a slow machine looks elsewhere. */
const stopClock = (): void => {
  stoppedMs = systemClock.nowMs()
}
const workers: Worker[] = []
const children: ChildProcess[] = []

beforeAll(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  meta = await database.open()
  await meta.run(sql`create table steps (at bigserial primary key, job_id uuid, fence bigint, step text)`)
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const worker of workers.splice(0)) await worker.close()
  await meta.run(sql`delete from jobs`)
  await meta.run(sql`delete from steps`)
  shiftMs = 0
  stoppedMs = undefined
})
afterAll(() => database?.drop())

const worldOn = (own: Meta) => ({ meta: own, clock, ids: systemIds, log: silent })

function work(kinds: readonly JobKind[], bounds: WorkerOptions = {}, own = meta): Worker {
  const worker = startWorker(worldOn(own), kinds, { ...QUICK, ...bounds })
  workers.push(worker)
  return worker
}

const add = (kind: string, key: string = randomUUID(), payload = {}) =>
  meta.write('*', (tx) => enqueue(worldOn(meta), tx, { kind, key, orgId: undefined, payload }))

type Row = {
  key: string
  attempts: number
  due_at: number
  fence: number
  last_failure: string | null
  given_up_at: number | null
  holder: string | null
}
const jobs = () => meta.all<Row>(sql`select * from jobs order by kind, key`)
const soon = (what: () => unknown) => expect.poll(what, { interval: 10 })

test('a job enqueued twice under one key runs once and is then deleted', async () => {
  await add('greet', 'ada', { name: 'Ada' })
  await add('greet', 'ada', { name: 'Ada' })
  const done: JobRun[] = []
  const run = async (job: JobRun): Promise<undefined> => {
    done.push(job)
  }
  work([{ name: 'greet', run }])
  await soon(jobs).toEqual([])
  expect(done).toMatchObject([{ payload: { name: 'Ada' }, attempt: 1, fence: 1, orgId: undefined }])
})

test('a job enqueued while it runs, runs once more, since it may be past the new work', async () => {
  const [one, all] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const runs = { once: 0, often: 0, failing: 0 }
  work([
    { name: 'once', run: () => (++runs.once === 1 ? one.promise : Promise.resolve(undefined)) },
    { name: 'often', everyMs: DAY_MS, run: () => (++runs.often === 1 ? all.promise : Promise.resolve(undefined)) },
    {
      name: 'failing',
      triesMax: 1,
      run: async () => {
        runs.failing += 1
        if (runs.failing > 1) return undefined
        await one.promise
        throw new Error('not yet')
      },
    },
  ])
  await add('once', 'a')
  await add('failing', 'a')
  await soon(() => runs).toEqual({ once: 1, often: 1, failing: 1 })
  await add('once', 'a')
  await add('often', '')
  await add('failing', 'a')
  one.resolve(undefined)
  all.resolve(undefined)
  await soon(() => runs).toEqual({ once: 2, often: 2, failing: 2 })
  await soon(async () => (await jobs()).map(({ key, holder }) => [key, holder])).toEqual([['', null]])
})

test('a transaction that fails leaves no job behind', async () => {
  const failing = meta.write('*', async (tx) => {
    await enqueue(worldOn(meta), tx, { kind: 'greet', key: 'ada', orgId: undefined, payload: {} })
    throw new Error('not this time')
  })
  await expect(failing).rejects.toThrow('not this time')
  expect(await jobs()).toEqual([])
})

test('a job of an unknown kind stays for a process that knows it', async () => {
  await add('strange', 'a')
  await add('known', 'b')
  work([{ name: 'known', run: async () => undefined }])
  await soon(async () => (await jobs()).map(({ key }) => key)).toEqual(['a'])
})

test('a job waits until it is due, and one kind never waits for another', async () => {
  await meta.write('*', (tx) =>
    enqueue(worldOn(meta), tx, { kind: 'later', key: 'a', orgId: undefined, payload: {}, dueMs: clock.nowMs() + DAY_MS }),
  )
  await add('slow', 'a')
  await add('swift', 'a')
  const slow = Promise.withResolvers<undefined>()
  const done: string[] = []
  const kind = (name: string, run: () => Promise<undefined>): JobKind => ({ name, run: () => run().finally(() => done.push(name)) })
  work([kind('later', async () => undefined), kind('slow', () => slow.promise), kind('swift', async () => undefined)])
  await soon(() => done).toEqual(['swift'])
  shiftMs = DAY_MS
  await soon(() => done).toEqual(['swift', 'later'])
  slow.resolve(undefined)
  await soon(jobs).toEqual([])
})

test('a failed job is retried with growing delays, given up at its limit, and revived when enqueued again', async () => {
  stopClock()
  await add('fragile', 'a')
  let isBroken = true
  let tries = 0
  const run = async (): Promise<undefined> => {
    tries += 1
    if (isBroken) throw new Error(`broken\0 ${tries}`)
  }
  work([{ name: 'fragile', triesMax: 3, run }])
  const waits: number[] = []
  for (let n = 1; n < 3; n += 1) {
    await soon(async () => (await jobs())[0]?.last_failure).toBe(`broken ${n}`)
    const [row] = await jobs()
    waits.push((row?.due_at ?? 0) - clock.nowMs())
    shiftMs += waits.at(-1) ?? 0
  }
  await soon(async () => (await jobs())[0]?.given_up_at).not.toBe(null)
  expect(tries).toBe(3)
  expect(waits[1]).toBeGreaterThan((waits[0] ?? 0) * 1.5)
  shiftMs += 30 * DAY_MS
  isBroken = false
  await add('fragile', 'a')
  await soon(jobs).toEqual([])
  expect(tries).toBe(4)
})

test('a job may continue later with its payload', async () => {
  await add('count', 'a', { n: 1 })
  const seen: unknown[] = []
  const run = async ({ payload }: JobRun) => {
    seen.push(payload.n)
    return payload.n === 3 ? undefined : { againInMs: 0, payload: { n: Number(payload.n) + 1 } }
  }
  work([{ name: 'count', run }])
  await soon(jobs).toEqual([])
  expect(seen).toEqual([1, 2, 3])
})

test('a recurring kind has one job for all workers, which comes again after its interval and is never given up', async () => {
  stopClock()
  let runs = 0
  const tick: JobKind = {
    name: 'tick',
    everyMs: DAY_MS,
    triesMax: 1,
    run: async () => {
      runs += 1
      if (runs === 2) throw new Error('once')
      return undefined
    },
  }
  work([tick])
  const other = await database.open()
  let claims = 0
  const one = <Row>(query: Sql) => {
    claims += 1
    return other.one<Row>(query)
  }
  work([tick], {}, { ...other, one })
  // Before its first claim, a worker moves up jobs that are due later than one interval from its start.
  await soon(() => claims > 0).toBe(true)
  // Move the clock only after the first run is recorded. Otherwise the next due time would be based on the moved clock.
  await soon(async () => [runs, ((await jobs())[0]?.due_at ?? 0) > clock.nowMs()]).toEqual([1, true])
  shiftMs += DAY_MS
  await soon(async () => (await jobs())[0]?.last_failure).toBe('once')
  shiftMs += 60_000
  await soon(async () => (await jobs()).map(({ last_failure, attempts }) => [last_failure, attempts])).toEqual([[null, 0]])
  expect(runs).toBe(3)
})

test('a recurring job runs again after the clock was set back, and at every start if it requires that', async () => {
  stopClock()
  let runs = 0
  const run = async (): Promise<undefined> => {
    runs += 1
  }
  const tick: JobKind = { name: 'tick', everyMs: DAY_MS, run }
  shiftMs = 400 * DAY_MS
  work([tick])
  await soon(() => runs).toBe(1)
  await workers.pop()?.close()
  shiftMs = 0
  work([tick])
  await soon(async () => ((await jobs())[0]?.due_at ?? 0) - clock.nowMs()).toBeLessThan(DAY_MS + 1)
  shiftMs = DAY_MS
  await soon(() => runs).toBe(2)
  await workers.pop()?.close()
  work([{ ...tick, isDueAtStart: true }])
  await soon(() => runs).toBe(3)
})

test('a failed job whose retry a wrong clock wrote comes again when the clock is right, at the next start too', async () => {
  stopClock()
  await add('fragile', 'a')
  shiftMs = 25 * 3_600_000
  let tries = 0
  const run = async (): Promise<undefined> => {
    tries += 1
    if (tries < 3) throw new Error(`broken ${tries}`)
  }
  work([{ name: 'fragile', run }])
  await soon(async () => (await jobs())[0]?.last_failure).toBe('broken 1')
  shiftMs = 0
  await soon(async () => (await jobs())[0]?.last_failure).toBe('broken 2')
  await workers.pop()?.close()
  await meta.run(sql`update jobs set due_at = due_at + ${DAY_MS}::bigint, failed_at = failed_at + ${DAY_MS}::bigint`)
  work([{ name: 'fragile', run }])
  await soon(jobs).toEqual([])
})

test('a recurring job comes again within its interval when the clock goes back while the worker runs', async () => {
  stopClock()
  let [runs, monotonicMs] = [0, 0]
  const run = async (): Promise<undefined> => {
    runs += 1
  }
  const own: Clock = { ...clock, monotonicMs: () => monotonicMs }
  shiftMs = 2 * 3_600_000
  workers.push(startWorker({ ...worldOn(meta), clock: own }, [{ name: 'tick', everyMs: 5_000, run }], QUICK))
  await soon(async () => [runs, ((await jobs())[0]?.due_at ?? 0) > clock.nowMs()]).toEqual([1, true])
  shiftMs = 0
  await soon(async () => ((await jobs())[0]?.due_at ?? 0) - clock.nowMs()).toBeLessThan(5_001)
  monotonicMs += 5_001
  shiftMs += 5_001
  await soon(() => runs).toBe(2)
})

test('a lease from a wrong store clock blocks nothing', async () => {
  await add('held', 'a')
  await meta.run(sql`update jobs set holder = ${randomUUID()}, lease_until_ms = ${Date.now() + DAY_MS}::bigint, attempts = 1, fence = 1`)
  work([{ name: 'held', run: async () => undefined }])
  await soon(jobs).toEqual([])
})

test('a worker with short leases leaves a job alone whose holder has a long one', async () => {
  await add('far', 'a')
  const claim = (leaseMs: number) => claimJob(meta, { kinds: ['far'], recurring: [], holder: randomUUID(), nowMs: Date.now() + 1, leaseMs })
  const long = await claim(DAY_MS)
  expect(await claim(1_000)).toBe(undefined)
  if (long) await renewLease(meta, long, 2 * DAY_MS)
  expect(await claim(1_000)).toBe(undefined)
})

test('many workers share the work and never do the same job at once', async () => {
  const others = [await database.open(), await database.open()]
  const under = new Set<string>()
  const done: string[] = []
  let overlaps = 0
  const run = async (job: JobRun): Promise<undefined> => {
    if (under.has(job.id)) overlaps += 1
    under.add(job.id)
    await systemClock.sleep(3)
    under.delete(job.id)
    done.push(job.id)
  }
  for (let n = 0; n < 60; n += 1) await add('share', String(n))
  for (const own of [meta, meta, ...others]) work([{ name: 'share', run }], {}, own)
  await soon(jobs).toEqual([])
  expect([done.length, new Set(done).size, overlaps]).toEqual([60, 60, 0])
})

test('a stop ends running jobs and releases their leases, so that another process continues at once and the attempt does not count', async () => {
  await add('long', 'a')
  const started = Promise.withResolvers<void>()
  const first = work([
    {
      name: 'long',
      run: async ({ signal }) => {
        started.resolve()
        await clock.sleep(DAY_MS, signal)
        return undefined
      },
    },
  ])
  await started.promise
  await first.close()
  expect(await jobs()).toMatchObject([{ attempts: 0, holder: null, last_failure: null }])
  const attempts: number[] = []
  const run = async ({ attempt }: JobRun): Promise<undefined> => {
    attempts.push(attempt)
  }
  work([{ name: 'long', run }])
  await soon(jobs).toEqual([])
  expect(attempts).toEqual([1])
})

/** Runs a worker in a separate process. `body` is the run of its kind `far`, with `note` to record steps under the lease. */
test('a job that ignores a stop is given back at its end, writes nothing more, and another process continues it at once', async () => {
  await add('deaf')
  const go = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<JobRun>()
  const run = async (job: JobRun): Promise<undefined> => {
    begun.resolve(job)
    await go.promise
    await meta.write('*', (tx) => job.hold(tx))
  }
  const first = work([{ name: 'deaf', run }], { stopMs: 10, leaseMs: DAY_MS })
  const job = await begun.promise
  await first.close()
  expect(await jobs()).toMatchObject([{ attempts: 1, holder: expect.any(String) }])
  await first.giveBack()
  await expect(meta.write('*', (tx) => job.hold(tx))).rejects.toThrow(LeaseLost)
  const fences: number[] = []
  work([{ name: 'deaf', run: async ({ fence }: JobRun) => void fences.push(fence) }])
  await soon(jobs).toEqual([])
  go.resolve()
  expect(fences).toEqual([job.fence + 1])
})

function startProcess(body: string, leaseMs: number, triesMax = 20): ChildProcess {
  const at = (path: string) => JSON.stringify(join(import.meta.dirname, path))
  const program = `
    import { systemClock as clock } from ${at('../kernel/clock.ts')}
    import { systemIds as ids } from ${at('../kernel/ids.ts')}
    import { openMeta } from ${at('../meta/meta.ts')}
    import { sql } from ${at('../meta/sql.ts')}
    import { silent as log } from ${at('../meta/database.fixture.ts')}
    import { startWorker } from ${at('jobs.ts')}
    const meta = await openMeta({ url: process.argv[1], dataDir: 'not used' }, { clock, ids, log })
    const note = (job, step) => meta.write('*', async (tx) => {
      await job.hold(tx)
      await tx.run(sql\`insert into steps (job_id, fence, step) values (\${job.id}, \${job.fence}, \${step})\`)
    })
    const run = async (job) => { ${body} }
    startWorker({ meta, clock, ids, log }, [{ name: 'far', triesMax: ${triesMax}, run }], { pollMs: 10, leaseMs: ${leaseMs} })`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program, database.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

const note = async (id: string, fence: number, step: string): Promise<undefined> => {
  await meta.run(sql`insert into steps (job_id, fence, step) values (${id}, ${fence}, ${step})`)
}

type Step = { job_id: string; fence: number; step: string }
const steps = () => meta.all<Step>(sql`select * from steps order by at`)
const stepNames = async () => (await steps()).map(({ fence, step }) => `${fence} ${step}`)

test('a job whose process is killed runs elsewhere when the lease has expired', async () => {
  await add('far', 'a')
  const child = startProcess(`await note(job, 'begun'); await clock.sleep(1e9)`, 1_000)
  await soon(stepNames).toEqual(['1 begun'])
  child.kill('SIGKILL')
  work([{ name: 'far', run: ({ id, fence, attempt }) => note(id, fence, `attempt ${attempt}`) }])
  await soon(stepNames).toEqual(['1 begun', '2 attempt 2'])
  await soon(jobs).toEqual([])
})

test('a start takes over the first attempts of a killed process at once, and not jobs that may have crashed two', async () => {
  await add('far', 'a')
  const first = startProcess(`await note(job, 'begun'); await clock.sleep(1e9)`, DAY_MS)
  await soon(stepNames).toEqual(['1 begun'])
  first.kill('SIGKILL')
  await releaseDeadLeases(meta)
  const second = startProcess(`await note(job, 'begun'); await clock.sleep(1e9)`, DAY_MS)
  await soon(stepNames).toEqual(['1 begun', '2 begun'])
  second.kill('SIGKILL')
  await releaseDeadLeases(meta)
  await add('far', 'b')
  work([{ name: 'far', run: ({ id, fence }) => note(id, fence, 'done') }], { leaseMs: DAY_MS })
  await soon(stepNames).toEqual(['1 begun', '2 begun', '1 done'])
  await soon(jobs).toMatchObject([{ key: 'a', attempts: 2, fence: 2, holder: expect.any(String) }])
})

test('a holder that was paused past its lease writes nothing more once another holds the job', async () => {
  await add('far', 'a')
  const child = startProcess(
    `await note(job, 'begun')
     while (!(await meta.all(sql\`select 1 from steps where step = 'go'\`)).length) await clock.sleep(10)
     const said = await note(job, 'late').then(() => 'written', (thrown) => thrown.name)
     await meta.run(sql\`insert into steps (fence, step) values (\${job.fence}, \${said})\`)`,
    1_000,
  )
  await soon(stepNames).toEqual(['1 begun'])
  child.kill('SIGSTOP')
  const taken = Promise.withResolvers<JobRun>()
  const finish = Promise.withResolvers<undefined>()
  work([
    {
      name: 'far',
      run: (job) => {
        taken.resolve(job)
        return finish.promise
      },
    },
  ])
  const second = await taken.promise
  expect(second.fence).toBe(2)
  await meta.run(sql`insert into steps (step) values ('go')`)
  child.kill('SIGCONT')
  await soon(async () => (await stepNames()).at(-1)).toBe('1 LeaseLost')
  await meta.write('*', (tx) => second.hold(tx))
  finish.resolve(undefined)
  await soon(jobs).toEqual([])
  expect((await stepNames()).some((step) => step.includes('late') || step.includes('written'))).toBe(false)
  await expect(meta.write('*', (tx) => second.hold(tx))).rejects.toThrow(LeaseLost)
})

test('a job that ends its process each time is given up in the end', async () => {
  await add('far', 'a')
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    startProcess(`await note(job, 'begun'); process.kill(process.pid, 'SIGKILL')`, 300, 3)
    await soon(async () => (await steps()).length).toBe(attempt)
  }
  work([{ name: 'far', triesMax: 3, run: async () => undefined }])
  await soon(async () => (await jobs())[0]?.given_up_at ?? null).not.toBe(null)
  expect(await jobs()).toMatchObject([{ last_failure: 'its process crashed on every attempt' }])
})

test('workers that are killed at random leave every job done, and no step of an earlier holder after one of a later', async () => {
  for (let n = 0; n < 40; n += 1) await add('far', String(n))
  const body = `await note(job, 'begun'); await clock.sleep(Math.random() * 40); await note(job, 'done')`
  const start = () => startProcess(body.replaceAll('Math.random()', String(Math.random())), 400)
  const pair = [start(), start()]
  for (let kills = 0; kills < 6; kills += 1) {
    const before = (await steps()).length
    await soon(async () => (await steps()).length > before || (await jobs()).length === 0).toBe(true)
    const victim = kills % 2
    pair[victim]?.kill('SIGKILL')
    pair[victim] = start()
  }
  work([{ name: 'far', run: ({ id, fence }) => note(id, fence, 'done') }])
  await soon(jobs).toEqual([])
  const all = await steps()
  expect(new Set(all.filter(({ step }) => step === 'done').map(({ job_id }) => job_id)).size).toBe(40)
  const fell = all.filter((step, index) =>
    all.slice(0, index).some((earlier) => earlier.job_id === step.job_id && earlier.fence > step.fence),
  )
  expect(fell).toEqual([])
})
