import { execFile } from 'node:child_process'
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ask, pidOf, testDeps } from '../../server/src/events/store/engine.fixture.ts'
import { openEventStore } from '../../server/src/events/store/events.ts'
import { postOf } from '../../server/src/events/writer/blocks.fixture.ts'
import { openEventWriter } from '../../server/src/events/writer/writer.ts'
import { type Clock, systemClock } from '../../server/src/kernel/clock.ts'
import { isNightly } from '../support/nightly.ts'

const run = promisify(execFile)
const DISK = '300m'
/** Less than what the engine leaves free. */
const KEPT_BYTES = 100 * 2 ** 20
const WRITERS = 10
/** clock goes slowly, so that a slow disk is not late on it: 10 s on it are 5 minutes. */
const SLOWNESS = 30
const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / SLOWNESS }

const root = await mkdtemp(join(tmpdir(), 'dendro-full-'))
const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', root]).then(
  () => true,
  () => false,
)
if (!mounted) process.stderr.write('THE TEST OF THE WRITER ON A FULL DISK DID NOT RUN: it needs the right to mount\n')

test.skipIf(!mounted)('on a full disk posts get 503 and reads go on; with space again it takes them, without a restart', async () => {
  const store = await openEventStore({ dataDir: join(root, 'data'), memoryBytes: 2 ** 30 }, testDeps)
  const writer = await openEventWriter(store, { ...testDeps, clock })
  const [stored, refused]: [string[], unknown[]] = [[], []]
  let n = 0
  const write = async (): Promise<void> => {
    n += 1
    const line = `line ${n}`
    await writer.write(postOf([line])).then(
      () => stored.push(line),
      (failure) => refused.push(failure.status),
    )
  }
  const storedLines = async () => (await ask<{ raw: string }>(store.writer, 'select raw from pattern_events_s')).map(({ raw }) => raw)
  try {
    const pid = pidOf(store)
    for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: WRITERS }, write))
    expect(refused).toEqual([])

    const freeBytes = async () => {
      const { bavail, bsize } = await statfs(root)
      return bavail * bsize
    }
    await writeFile(join(root, 'ballast'), Buffer.alloc((await freeBytes()) - KEPT_BYTES, 'x'))
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: WRITERS }, write))
    expect(stored).toHaveLength(5 * WRITERS)
    expect(await freeBytes()).toBeGreaterThan(0.9 * KEPT_BYTES)

    // The store may take some of it meanwhile: a ballast that does not quite fit fills the disk just as well.
    await writeFile(join(root, 'more ballast'), Buffer.alloc(await freeBytes(), 'x')).catch((failure) =>
      expect(failure.code).toBe('ENOSPC'),
    )
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: WRITERS }, write))
    expect(new Set(refused)).toEqual(new Set([503]))
    expect(await storedLines()).toEqual(expect.arrayContaining(stored))

    for (const name of ['ballast', 'more ballast']) await rm(join(root, name))
    const spaceMs = clock.monotonicMs()
    const before = stored.length
    while (stored.length === before) await write()
    // A busy machine may take longer; the nightly run measures it.
    if (isNightly) expect(clock.monotonicMs() - spaceMs).toBeLessThan(10_000)
    await Promise.all(Array.from({ length: WRITERS }, write))
    expect((await storedLines()).sort()).toEqual(stored.toSorted())
    expect(pidOf(store)).toBe(pid)
  } finally {
    await writer.close()
    await store.close()
    await run('umount', ['-l', root])
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})
