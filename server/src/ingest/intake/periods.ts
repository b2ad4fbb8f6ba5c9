import { timeNsAt } from '../../events/writer/block-times.ts'
import type { Block } from '../../events/writer/post.ts'
import { Failure } from '../../kernel/errors.ts'
import { NO_PERIOD, type SampledTimes } from '../../lines/periods.ts'
import { growLayouts, locateAll } from '../../resources/data/catalog/catalog.ts'
import type { DatasetShare } from './accounting.ts'
import type { IntakeWorld } from './intake-world.ts'

const NS_PER_MS = 1_000_000
const TIME_BYTES = 8
/** So many times of a block tell how its rows lie in time. */
const SAMPLE = 64

/** Chooses the length of periods for the rows of a post. A length that is new to a dataset is recorded before rows of it are stored. */
export async function choosePeriods(world: IntakeWorld, orgId: string, shares: readonly DatasetShare[]): Promise<void> {
  const logIds = shares.map(({ logId }) => logId)
  const known = await locateAll(world, orgId, logIds)
  const chosen = shares.map(({ logId, blocks }, at) => {
    const present = known[at]?.periods.at(-1)
    return blocks.reduce((_, block) => world.periods.next(logId, present, timesIn(block)), present ?? NO_PERIOD)
  })
  const fresh = new Map(
    shares.flatMap(({ logId }, at) => {
      const periodS = chosen[at]
      return periodS === undefined || known[at]?.periods.includes(periodS) ? [] : [[logId, { observed: [], open: [], periodS }] as const]
    }),
  )
  const haveOthers = [...fresh.keys()].every((logId) => known[logIds.indexOf(logId)]?.periods.length)
  const isRecorded = fresh.size === 0 || (await growLayouts(world, orgId, fresh).then(() => true, haveOthers ? recordedLater : refused))
  for (const [at, { logId, blocks }] of shares.entries()) {
    const periodS = isRecorded || !fresh.has(logId) ? chosen[at] : known[at]?.periods.at(-1)
    for (const block of blocks) block.periodS = periodS ?? NO_PERIOD
  }
}

/** While the metadata store is down, datasets keep the length that they have. */
function recordedLater(thrown: unknown): boolean {
  if (thrown instanceof Failure && thrown.status === 503) return false
  return refused(thrown)
}

function refused(thrown: unknown): never {
  throw thrown
}

/** Some times of a block, evenly spread over its rows. */
function timesIn({ columns, rows }: Block): SampledTimes {
  const times = columns.find(({ name }) => name === 'ts')?.bytes
  if (!times) return { timesMs: [], weight: 0 }
  const view = new DataView(times.buffer, times.byteOffset, times.byteLength)
  const step = Math.max(1, Math.floor(rows / SAMPLE))
  const timesMs: number[] = []
  for (let row = 0; row < rows; row += step) timesMs.push(timeNsAt(view, row * TIME_BYTES) / NS_PER_MS)
  return { timesMs, weight: rows / timesMs.length }
}
