import type { contract, LineTime, QueryOf, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { forbidden, notFound } from '../../../kernel/errors.ts'
import { isAcceptable } from '../../../lines/reference/event.ts'
import { findLineTimes, type StoredLine } from '../../../parsers/line-time-candidates.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import type { DatasetRow } from '../datasets/datasets.ts'
import { messageIn, recentEvents } from '../parsers/parsers.ts'
import { setLineTime } from './rows.ts'

/** Sets where the lines of a dataset tell their time, for events received from then on; null removes the setting. */
export async function changeLineTime(world: World, actor: Actor, record: DatasetRow, lineTime: LineTime | null): Promise<undefined> {
  if (record.is_system_generated) throw forbidden('the lines of system datasets have no time of their own')
  await world.meta.write(actor.orgId, async (tx) => {
    const request = { logId: record.id, lineTime, nowMs: world.clock.nowMs(), identity: actor.identity }
    const was = await setLineTime(tx, actor.orgId, request)
    if (!was) throw notFound('dataset', record.id)
    await recordChange(world, tx, actor, {
      entity: { type: 'dataset', id: record.id },
      before: { line_time: was.before },
      after: { line_time: lineTime },
    })
  })
}

/** Finds the times in recent lines. */
export async function previewLineTimes(
  world: World,
  actor: Actor,
  record: DatasetRow,
  { timezone, signal }: QueryOf<typeof contract.lineTimes.preview> & { signal: AbortSignal },
): Promise<ReplyOf<typeof contract.lineTimes.preview>> {
  const events = await recentEvents(world, actor, record, signal)
  const lines = events.map(({ line, ...times }): StoredLine => ({ line: messageIn(line), ...times }))
  const candidates = findLineTimes(lines, timezone, (ms, arrivalMs) => isAcceptable({ ms }, { ms: arrivalMs, ns: 0 }))
  return { lines: lines.length, candidates }
}
