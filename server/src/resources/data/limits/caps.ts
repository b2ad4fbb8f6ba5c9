import type { World } from '../../../world.ts'
import { type LimitRow, selectLimits } from './rows.ts'

/** allLimits are those that the organisation has set itself. */
export const allLimits = (world: Pick<World, 'meta'>, orgId: string): Promise<LimitRow[]> =>
  world.meta.cached(orgId, 'limits', () => selectLimits(world.meta, orgId))

/** limitValue is the number again: a bigint where a double would round it. */
export function limitValue({ value }: LimitRow): number | bigint {
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? BigInt(value) : number
}
