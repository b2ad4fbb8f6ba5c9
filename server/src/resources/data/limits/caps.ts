import type { World } from '../../../world.ts'
import { type LimitRow, selectLimits } from './rows.ts'

/** The limits that the organization has set itself. */
export const allLimits = (world: Pick<World, 'meta'>, orgId: string): Promise<LimitRow[]> =>
  world.meta.cached(orgId, 'limits', () => selectLimits(world.meta, orgId))

/** The value as a number: a bigint if a double would round it. */
export function limitValue({ value }: LimitRow): number | bigint {
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? BigInt(value) : number
}
