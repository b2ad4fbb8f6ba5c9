import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLogger } from '../../kernel/log.ts'
import { openPool, type WorkerPool } from './pool.ts'
import { STEP_TARGETS_MAX, shredInSteps } from './shred-steps.ts'
import type { ParseRequest, ShredRequest } from './worker-messages.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-pool-'))
})
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

/** A worker that does what the path of a post says. Its answers contain a number that is different in every run. */
const PROGRAM = `
import { parentPort, threadId } from 'node:worker_threads'
parentPort.on('message', ({ job, request }) => {
  if (request.kind === 'forget') return
  const what = request.request?.path
  if (what === 'die') process.exit(1)
  if (what === 'throw') throw new Error('a bug')
  if (what === 'hang') for (;;);
  if (what === 'wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000)
  if (what === 'refuse') return parentPort.postMessage({ job, failure: { kind: 'refused', status: 400, details: 'no', headers: {} } })
  if (request.kind === 'shred') return parentPort.postMessage({ job, reply: { shredded: request.targets.map(({ logId }) => ({ logId })) } })
  if (what === 'bug') return parentPort.postMessage({ job, failure: { kind: 'bug', stack: 'here' } })
  parentPort.postMessage({ job, reply: { notes: threadId } })
  if (what === 'watched') parentPort.postMessage({ 'watch:import': ['file:///worker.mjs'] })
})`

async function open(options: { size?: number; stepMs?: number } = {}): Promise<WorkerPool> {
  const path = join(dir, 'worker.mjs')
  await writeFile(path, PROGRAM)
  return openPool({ log: openLogger('silent'), size: 1, script: pathToFileURL(path), ...options })
}

const parseRequest = (path: string): ParseRequest => ({
  kind: 'parse',
  receiver: 'native',
  request: { path, query: {}, headers: {}, contentType: '', body: new Uint8Array(0) },
  wantsHash: false,
})

const comeAgain = expect.objectContaining({ status: 503, headers: { 'retry-after': expect.stringMatching(/^[1-9]$/) } })

test.each(['die', 'throw', 'hang'])(
  'after a worker was made to %s, its post gets a 503 and another worker handles the next one',
  async (path) => {
    const pool = await open({ stepMs: path === 'hang' ? 1_000 : 120_000 })
    const before = await pool.open('org').run(parseRequest('work'))
    await expect(pool.open('org').run(parseRequest(path))).rejects.toEqual(comeAgain)
    const after = await pool.open('org').run(parseRequest('work'))
    expect(after.notes).not.toBe(before.notes)
    await pool.close()
  },
)

/** The workers that are started from now on; Node says so in a later turn of the event loop. */
function watchStarts(): { started(): Promise<readonly Worker[]>; end(): void } {
  const started: Worker[] = []
  const note = (worker: Worker): void => void started.push(worker)
  process.on('worker', note)
  return { started: async () => setImmediate(started), end: () => void process.off('worker', note) }
}

test('a prepared pool starts its worker before the first post, and then one more than has had posts', async () => {
  const starts = watchStarts()
  const pool = await open({ size: 3 })
  pool.prepare()
  const [first] = await starts.started()
  const { notes } = await pool.open('org').run(parseRequest('work'))
  expect(notes).toBe(first?.threadId)
  expect(await starts.started()).toHaveLength(2)
  const [one, other] = [pool.open('org'), pool.open('org')]
  await Promise.all([one.run(parseRequest('work')), other.run(parseRequest('work'))])
  expect(await starts.started()).toHaveLength(3)
  await pool.close()
  starts.end()
})

test('a pool that is not prepared starts no worker before the first post', async () => {
  const starts = watchStarts()
  const pool = await open({ size: 2 })
  expect(await starts.started()).toEqual([])
  await pool.open('org').run(parseRequest('work'))
  expect(await starts.started()).toHaveLength(1)
  await pool.close()
  starts.end()
})

test('a worker that waits for the CPU on a busy machine is not replaced', async () => {
  const pool = await open({ stepMs: 2_000 })
  const before = await pool.open('org').run(parseRequest('work'))
  expect(await pool.open('org').run(parseRequest('wait'))).toEqual(before)
  await pool.close()
})

test('a message that belongs to no job, as Node sends under --watch, changes nothing', async () => {
  const worker = once(process, 'worker') as Promise<[Worker]>
  const pool = await open()
  const before = await pool.open('org').run(parseRequest('work'))
  const [started] = await worker
  // The pool registered its listener first, so this one is called after the pool has handled the message.
  const heard = new Promise<void>((resolve) => started.on('message', (message) => !('job' in message) && resolve()))
  expect(await pool.open('org').run(parseRequest('watched'))).toEqual(before)
  await heard
  expect(await pool.open('org').run(parseRequest('work'))).toEqual(before)
  await pool.close()
})

test('posts that wait behind a crashing one are not affected', async () => {
  const pool = await open()
  const poisoned = pool.open('org').run(parseRequest('die'))
  const waiting = Promise.all(Array.from({ length: 5 }, () => pool.open('org').run(parseRequest('work'))))
  await expect(poisoned).rejects.toEqual(comeAgain)
  expect(await waiting).toHaveLength(5)
  await pool.close()
})

test('a post whose worker died between two steps gets a 503, since its parsed body is lost', async () => {
  const pool = await open()
  const job = pool.open('org')
  await job.run(parseRequest('work'))
  await expect(pool.open('org').run(parseRequest('die'))).rejects.toEqual(comeAgain)
  await expect(job.run(parseRequest('work'))).rejects.toEqual(comeAgain)
  job.close()
  await pool.close()
})

test('a refusal is passed on unchanged, and a bug becomes a 503', async () => {
  const pool = await open()
  await expect(pool.open('org').run(parseRequest('refuse'))).rejects.toMatchObject({ status: 400, message: 'no' })
  await expect(pool.open('org').run(parseRequest('bug'))).rejects.toEqual(comeAgain)
  await pool.close()
})

test('work is spread over the workers', async () => {
  const pool = await open({ size: 3 })
  const jobs = Array.from({ length: 6 }, () => pool.open('org'))
  const replies = await Promise.all(jobs.map((job) => job.run(parseRequest('work'))))
  expect(new Set(replies.map(({ notes }) => notes)).size).toBe(3)
  for (const job of jobs) job.close()
  await pool.close()
})

test('closing answers what waits', async () => {
  const pool = await open()
  const hanging = pool.open('org').run(parseRequest('hang'))
  const waiting = pool.open('org').run(parseRequest('work'))
  const both = Promise.allSettled([hanging, waiting])
  await pool.close()
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a worker starts with the first step that it gets', async () => {
  let started = 0
  const count = () => {
    started += 1
  }
  process.on('worker', count)
  const pool = await open({ size: 2 })
  const post = pool.open('org')
  expect(started).toBe(0)
  await post.run(parseRequest('work'))
  expect(started).toBe(1)
  await pool.close()
  process.off('worker', count)
})

test('without its program every post gets a 503', async () => {
  const pool = openPool({ log: openLogger('silent'), size: 1, script: pathToFileURL(join(dir, 'not-there.mjs')) })
  for (let times = 0; times < 2; times += 1) await expect(pool.open('org').run(parseRequest('work'))).rejects.toEqual(comeAgain)
  await pool.close()
})

test('a post waits for the running step of another organization, and not for those behind it', async () => {
  const pool = await open()
  await pool.open('busy').run(parseRequest('work'))
  const ended: string[] = []
  const busy = Array.from({ length: 4 }, (_, at) =>
    pool
      .open('busy')
      .run(parseRequest('work'))
      .then(() => ended.push(`busy ${at}`)),
  )
  const quiet = pool
    .open('quiet')
    .run(parseRequest('work'))
    .then(() => ended.push('quiet'))
  await Promise.all([...busy, quiet])
  expect(ended.slice(0, 2)).toEqual(['busy 0', 'quiet'])
  await pool.close()
})

test('a post for many datasets is split in steps, between which posts of other organizations go first', async () => {
  const pool = await open()
  const wide = pool.open('wide')
  await wide.run(parseRequest('work'))
  const logIds = Array.from({ length: 2 * STEP_TARGETS_MAX + 1 }, (_, dataset) => String(dataset))
  const ended: string[] = []
  const other = pool.open('other')
  const run: typeof wide.run = async (request) => {
    const reply = wide.run(request)
    if (ended.length === 0) void other.run(parseRequest('work')).then(() => ended.push('other'))
    const found = await reply
    ended.push('wide')
    return found
  }
  const shredded = await shredInSteps({ run }, shredRequest(logIds))
  expect(shredded.map(({ logId }) => logId)).toEqual(logIds)
  expect(ended).toEqual(['wide', 'other', 'wide', 'wide'])
  await pool.close()
})

const shredRequest = (logIds: readonly string[]): ShredRequest => ({
  kind: 'shred',
  atMs: 0,
  origin: '',
  targets: logIds.map((logId, batch) => ({
    batches: [batch],
    orgNumber: 1,
    logId,
    map: undefined,
    attributes: [],
    rules: undefined,
    parser: undefined,
    lineTime: undefined,
    isLast: true,
  })),
})
