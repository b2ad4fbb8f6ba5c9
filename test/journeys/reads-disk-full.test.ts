import { execFile } from 'node:child_process'
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { copyMadeStores, killServices, startService, untilUp } from '../support/service.ts'

const run = promisify(execFile)
/** The engine writes temporary files at once on a disk in memory: it has no space that it may promise and take back. */
const DISK = '700m'
const EVENTS = 3_000
const HOUR_MS = 3_600_000

const disk = await mkdtemp(join(tmpdir(), 'dendro-reads-'))
const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', disk]).then(
  () => true,
  () => false,
)
if (!mounted) process.stderr.write('THE TEST OF READS ON A FULL DISK DID NOT RUN: it needs the right to mount\n')

afterAll(async () => {
  await killServices()
  if (mounted) await run('umount', ['-l', disk])
  await rm(disk, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const freeBytes = async (): Promise<number> => {
  const { bavail, bsize } = await statfs(disk)
  return bavail * bsize
}

let ballast = 0
/** Fills the disk. The stores may take space meanwhile: a file that does not fit fills it just as well. */
async function fill(): Promise<void> {
  for (let free = await freeBytes(); free > 0; free = await freeBytes()) {
    ballast += 1
    await writeFile(join(disk, `ballast-${ballast}`), Buffer.alloc(free, 'x')).catch(({ code }) => expect(code).toBe('ENOSPC'))
  }
}

type Answer = { is_exact?: boolean; totals?: { stats: unknown }; groups?: { totals: unknown }[]; events?: unknown[] }

test.skipIf(!mounted)('on a full disk every read has the whole answer', async () => {
  await copyMadeStores(join(disk, 'data'))
  const service = await untilUp(startService(join(disk, 'data'), { DENDRO_RATE_LIMIT: 'off' }))
  const key = /dk_[\w-]+/.exec(service.said())?.[0] ?? ''
  const headers = { 'x-service-api-key': key, 'x-service-dataset': 'web', 'content-type': 'application/json' }
  const atMs = Date.now() - 60_000
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    timestamp: atMs,
    message: `request ${n} served`,
    host: `web-${n % 7}`,
    ms: n,
  }))
  const sent = await fetch(`${service.url}/ingest`, { method: 'POST', headers, body: JSON.stringify(events) })
  expect(sent.status).toBe(200)

  // Each read has a range of its own, so that no result is known from before.
  let fromMs = atMs - HOUR_MS
  const rangeOf = () => {
    fromMs -= 1_000
    return { from_expr: "dataset = 'web'", from_ts: fromMs, to_ts: atMs + HOUR_MS }
  }
  const search = (query: object) => async () => {
    const body = JSON.stringify({ ...rangeOf(), num_of_slices: 1, ...query })
    const reply = await fetch(`${service.url}/search`, { method: 'POST', headers, body })
    const { totals, groups, events, is_exact } = (await reply.json()) as Answer
    return {
      status: reply.status,
      is_exact,
      totals: totals?.stats,
      groups: groups?.map(({ totals: found }) => found),
      events: events?.length,
    }
  }
  const topKeys = async () => {
    const { from_expr, from_ts, to_ts } = rangeOf()
    const query = new URLSearchParams({ from_expr, from_ts: String(from_ts), to_ts: String(to_ts) })
    const reply = await fetch(`${service.url}/top-keys?${query}`, { headers })
    return { status: reply.status, body: await reply.json() }
  }
  const reads = {
    count: search({ select: ['count(*)'] }),
    'count of a pattern': search({ select: ['count(*)'], where: "message LIKE '%served%'" }),
    'free text': search({ select: ['count(*)'], where: 'request 17' }),
    groups: search({ select: ['count(*)'], groups: ['host'] }),
    numbers: search({ select: ['avg(ms)', 'max(ms)', 'sum(ms)'] }),
    slices: search({ select: ['count(*)'], num_of_slices: 20 }),
    events: search({ select: ['*'], where: "host = 'web-3'", limit: 1_000 }),
    'all events': search({ select: ['*', '@raw'], limit: EVENTS }),
    'top keys': topKeys,
  }
  const answers = async () => {
    const found: Record<string, unknown> = {}
    for (const [name, read] of Object.entries(reads)) found[name] = await read()
    return found
  }
  const before = await answers()
  expect(before.count).toMatchObject({ status: 200, is_exact: true })
  expect(before.events).toMatchObject({ status: 200, events: Math.ceil((EVENTS - 3) / 7) })

  await fill()
  const full = await answers()
  expect(await freeBytes()).toBe(0)
  expect(full).toEqual(before)
})
