import type { ReadCall } from '../../../http/protocol-reads.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { listCalls } from '../traces/traces.ts'

const DAY_MS = 24 * 3_600_000
const PAIRS_MAX = 500

/** Lists which services call which, in the time before `endTs`. */
export async function listDependencies(world: World, { actor, parameters, signal }: ReadCall) {
  const toMs = millisIn('endTs', parameters.get('endTs')) ?? world.clock.nowMs()
  const lookbackMs = millisIn('lookback', parameters.get('lookback')) ?? DAY_MS
  const range = { from_ts: Math.max(0, toMs - lookbackMs), to_ts: toMs }
  if (range.from_ts >= range.to_ts) throw badField('lookback', 'must be more than 0', 'OUT_OF_RANGE')
  const { calls } = await listCalls(world, actor, { ...range, limit: PAIRS_MAX }, signal)
  return { data: calls.map(({ from, to, calls: callCount }) => ({ parent: from, child: to, callCount })) }
}

function millisIn(name: string, given: string | null | undefined): number | undefined {
  if (!given) return undefined
  if (!/^[0-9]{1,15}$/.test(given)) throw badField(name, 'must be a number of milliseconds')
  return Number(given)
}
