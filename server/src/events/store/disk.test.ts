import { expect, test } from 'vitest'
import type { Clock } from '../../kernel/clock.ts'
import { type DiskSpace, type DiskWatch, judgeSpace, localSpace, watchDisk } from './disk.ts'
import { makeEngines, testDeps } from './engine.fixture.ts'
import { diskSpace } from './rows.ts'

const [MIB, GIB] = [2 ** 20, 2 ** 30]
const of = (totalBytes: number, freeBytes: number): DiskSpace => ({ totalBytes, freeBytes })

test.each([
  ['85 % of a large disk is tight', of(100 * GIB, 15 * GIB), 'tight'],
  ['a little less is not', of(100 * GIB, 15 * GIB + 1), 'ok'],
  ['95 % is full', of(100 * GIB, 5 * GIB), 'full'],
  ['a little less is tight', of(100 * GIB, 5 * GIB + 1), 'tight'],
  ['of a small disk 512 MiB must stay free', of(4 * GIB, 512 * MIB), 'tight'],
  ['and not a byte less', of(4 * GIB, 512 * MIB - 1), 'full'],
  ['nothing left is full', of(4 * GIB, 0), 'full'],
] as const)('%s', (_, space, expected) => expect(judgeSpace(space)).toBe(expected))

/** A disk whose space the test sets, and a clock that advances between polls. */
function hand() {
  let nowMs = 0
  const waiting: (() => void)[] = []
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((done, fail) => {
        signal?.addEventListener('abort', () => fail(signal.reason), { once: true })
        waiting.push(() => {
          nowMs += ms
          done()
        })
      }),
  }
  const logged: string[] = []
  const note = (_: unknown, message?: string) => void logged.push(message ?? '')
  const log = { ...testDeps.log, info: note, warn: note, error: note }
  let reading: DiskSpace | Error = of(100 * GIB, 50 * GIB)
  const read = async () => {
    if (reading instanceof Error) throw reading
    return reading
  }
  const check = async (watch: DiskWatch, next: DiskSpace | Error = reading) => {
    reading = next
    waiting.shift()?.()
    await expect.poll(() => waiting.length).toBe(1)
    return watch.state()
  }
  return { deps: { clock, log: log as typeof testDeps.log }, read, check, logged }
}

test('events are refused with the reason while the disk is full, and accepted when there is space again', async () => {
  const { deps, read, check, logged } = hand()
  const watch = await watchDisk(read, deps, 1_000)
  expect([watch.state(), watch.refusal()]).toEqual(['ok', undefined])
  expect(await check(watch, of(100 * GIB, 10 * GIB))).toBe('tight')
  expect(watch.refusal()).toBe(undefined)
  expect(await check(watch, of(100 * GIB, 300 * MIB))).toBe('full')
  expect(watch.refusal()).toBe(
    'the disk of the event store is full: 300 MiB of 100 GiB are free; events are accepted again when there is space',
  )
  expect(await check(watch)).toBe('full')
  expect(await check(watch, of(100 * GIB, 50 * GIB))).toBe('ok')
  expect([watch.refusal(), watch.space()]).toEqual([undefined, of(100 * GIB, 50 * GIB)])
  expect(logged).toEqual([
    'the disk of the event store is getting full',
    'the disk of the event store is full: events are refused',
    'the disk of the event store has space again: events are accepted',
  ])
  await watch.close()
})

test('a failed reading changes nothing for a minute; then the space is unknown and nothing is refused', async () => {
  const { deps, read, check } = hand()
  const watch = await watchDisk(read, deps, 10_000)
  await check(watch, of(100 * GIB, 0))
  const seen: string[] = []
  for (let attempt = 0; attempt < 8; attempt += 1) seen.push(await check(watch, new Error('gone')))
  expect(seen).toEqual(['full', 'full', 'full', 'full', 'full', 'full', 'ok', 'ok'])
  expect(watch.space()).toBe(undefined)
  await watch.close()
})

const engines = makeEngines()

test('the engine and the machine agree on the space of the disk', async () => {
  const dir = await engines.madeDir()
  const store = await engines.open(dir)
  try {
    const [reported, seen] = [await diskSpace(store.writer, undefined), await localSpace(dir)]
    expect(Math.abs((reported?.freeBytes ?? 0) - seen.freeBytes)).toBeLessThan(GIB)
    // The engine leaves out what it keeps free, and counts what the system keeps for its administrator.
    expect(reported?.totalBytes).toBeGreaterThan(seen.totalBytes - GIB)
  } finally {
    await engines.cleanUp()
  }
})
