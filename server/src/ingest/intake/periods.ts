import { sampledTimesMs } from '../../events/writer/block-times.ts'
import type { LayoutFindings } from '../../lines/layout/catalog.ts'
import { locateAll } from '../../resources/data/catalog/catalog.ts'
import type { DatasetShare } from './accounting.ts'
import type { IntakeWorld } from './intake-world.ts'
import { growLayoutsOf } from './layouts.ts'

/** The number of times of a block that show how its rows lie in time. */
const SAMPLE = 64

/** Chooses the length of periods for the rows of a post. A length that is new to a dataset is recorded before rows of it are stored. */
export async function choosePeriods(world: IntakeWorld, orgId: string, given: readonly DatasetShare[]): Promise<void> {
  const shares = given.filter(({ blocks }) => blocks.length > 0)
  const logIds = shares.map(({ logId }) => logId)
  const known = await locateAll(world, orgId, logIds)
  const chosen = shares.map(({ logId, blocks }, at) => {
    const present = known[at]?.periods.at(-1)
    const lengths = blocks.map((block) => {
      const timesMs = sampledTimesMs(block, SAMPLE)
      return world.periods.next(logId, present, { timesMs, weight: block.rows / timesMs.length })
    })
    return lengths.at(-1) as number
  })
  const fresh = new Map<string, LayoutFindings>()
  for (const [at, periodS] of chosen.entries()) {
    if (!known[at]?.periods.includes(periodS)) fresh.set(logIds[at] as string, { observed: [], open: [], periodS })
  }
  await growLayoutsOf(world, orgId, fresh)
  const recorded = fresh.size === 0 ? known : await locateAll(world, orgId, logIds)
  for (const [at, { blocks }] of shares.entries()) {
    const { periods = [] } = recorded[at] ?? {}
    const periodS = periods.find((one) => one === chosen[at]) ?? periods.at(-1)
    if (periodS === undefined) throw new Error('rows would be stored where no query looks for them')
    for (const block of blocks) block.periodS = periodS
  }
}
