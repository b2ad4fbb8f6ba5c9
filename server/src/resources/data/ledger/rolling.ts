import { rollUp } from '../../../events/ledger/rollup.ts'
import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { readClock, readingOf } from '../retention/retention.ts'

const LEDGER_ROLLUP = 'ledger_rollup'
const EVERY_MS = 60 * 60_000

/**
 * Compacts the ledger (ledger-rollup.ts), which would otherwise grow by rows per minute. A clock that jumped is not trusted at once: an early rollup
 * is correct, but cannot be undone.
 */
export const ledgerRollup = ({ clock, events, log }: Pick<World, 'clock' | 'events' | 'log'>): JobKind => ({
  name: LEDGER_ROLLUP,
  everyMs: EVERY_MS,
  run: async ({ payload, signal }) => {
    const nowMs = clock.nowMs()
    const { reading, isTrusted } = readClock(readingOf(payload.reading), nowMs, clock.report?.())
    const rows = isTrusted ? await rollUp(events, nowMs, signal) : 0
    if (rows > 0) log.info({ rows }, 'old minutes of the ledger were merged')
    return { againInMs: EVERY_MS, payload: { reading } }
  },
})
