import type { GuardedClock } from '../kernel/guarded-clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { Db } from './driver.ts'
import { sql } from './sql.ts'

const READ_EVERY_MS = 10_000

/** Compares the local clock with that of the metadata store, once before it resolves and then every ten seconds until closed. */
export async function followReferenceClock(db: Db, clock: GuardedClock, log: Logger): Promise<{ close(): Promise<void> }> {
  const closing = new AbortController()
  const read = async (): Promise<void> => {
    const sentMs = clock.monotonicMs()
    const row = await db.one<{ ms: number }>(sql`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`)
    if (row) clock.observe(row.ms, clock.monotonicMs() - sentMs)
  }
  const attempt = () => read().catch((err) => log.debug({ err }, 'the clock of the metadata store could not be read'))
  await attempt()
  const following = (async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(READ_EVERY_MS, closing.signal).catch(() => undefined)
      if (!closing.signal.aborted) await attempt()
    }
  })()
  return {
    close: async () => {
      closing.abort()
      await following
    },
  }
}
