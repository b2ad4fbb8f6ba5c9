import { z } from 'zod'
import { selectStoredLogs } from '../../../events/purge/purge.ts'
import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { DAY_MS } from './decide.ts'
import { selectJobPayload, selectKnownLogs } from './rows.ts'

const KIND = 'orphan_sweep'
/** Bounds the stored list; the log message has the total number. */
const KEPT_MAX = 1_000

const Orphans = z.object({ orphans: z.array(z.object({ org_number: z.number(), log_id: z.string(), events: z.number() })) })
type Orphan = z.output<typeof Orphans>['orphans'][number]

/**
 * Looks once a day for events whose dataset is unknown to the metadata store. It reports them and removes none: after a restore of the metadata they
 * may be all that is left of a dataset.
 */
export const orphanSweep = ({ events, meta, log }: Pick<World, 'events' | 'meta' | 'log'>): JobKind => ({
  name: KIND,
  everyMs: DAY_MS,
  run: async () => {
    const held = await selectStoredLogs(events)
    // Known datasets are read afterwards, so that newly created ones are included.
    const known = new Set((await selectKnownLogs(meta)).map(({ id }) => id))
    const orphans = held
      .filter(({ logId }) => !known.has(logId))
      .map(({ orgNumber, logId, events: count }) => ({ org_number: orgNumber, log_id: logId, events: count }))
    if (orphans.length > 0) log.warn({ datasets: orphans.length, sample: orphans.slice(0, 3) }, 'events belong to an unknown dataset')
    return { againInMs: DAY_MS, payload: { orphans: orphans.slice(0, KEPT_MAX) } }
  },
})

/** The orphans of one organization in the last sweep. */
export async function orphansOf({ meta }: Pick<World, 'meta'>, orgNumber: number): Promise<Orphan[]> {
  const payload = (await selectJobPayload(meta, KIND))?.payload
  const { orphans } = Orphans.catch({ orphans: [] }).parse(payload)
  return orphans.filter(({ org_number }) => org_number === orgNumber)
}
