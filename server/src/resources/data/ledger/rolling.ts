import { rollUp } from '../../../events/ledger/rollup.ts'
import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { readClock, readingOf } from '../retention/retention.ts'

const KIND = 'ledger_rollup'
const EVERY_MS = 60 * 60_000

/**
 * ledgerRollup keeps the ledger from growing by the minute for ever (ledger-rollup.ts). A clock that jumped is not believed at once: what is put
 * together too early is right, but cannot be taken apart again.
 */
export const ledgerRollup = ({ clock, events, log }: Pick<World, 'clock' | 'events' | 'log'>): JobKind => ({
  name: KIND,
  everyMs: EVERY_MS,
  run: async ({ payload, signal }) => {
    const nowMs = clock.nowMs()
    const { reading, isTrusted } = readClock(readingOf(payload.reading), nowMs, clock.report?.())
    const rows = isTrusted ? await rollUp(events, nowMs, signal) : 0
    if (rows > 0) log.info({ rows }, 'old minutes of the ledger were put together')
    return { againInMs: EVERY_MS, payload: { reading } }
  },
})
