import { type Actor, hasPermission } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import { arrivalOfSeq } from '../../../kernel/sequence-time.ts'
import { messageKeys } from '../../../lines/reference/event.ts'
import { fromNs } from '../../../lines/values/time-text.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery } from '../event-queries/event-queries.ts'

const LINES_MAX = 200
const BACK_MS = 7 * 86_400_000
const AHEAD_MS = 86_400_000
const LINE_CHARS_MAX = 4_000

/** A stored line; the sequence number tells when it arrived. */
export type RecentEvent = { line: string; storedMs: number; arrivalMs: number }

/** The latest lines of a dataset, newest first. */
export const recentLines = async (...given: Parameters<typeof recentEvents>): Promise<string[]> =>
  (await recentEvents(...given)).map(({ line }) => line)

/** The latest lines of a dataset with their times, newest first. Callers who may not search are refused. */
export async function recentEvents(
  world: Pick<World, 'clock' | 'deployment' | 'events' | 'meta' | 'admission'>,
  actor: Actor,
  dataset: DatasetRow,
  signal: AbortSignal,
): Promise<RecentEvent[]> {
  if (!hasPermission(actor, 'search_read')) throw forbidden('reading the lines of a log needs the permission search_read')
  const nowMs = world.clock.nowMs()
  const bounds = { fromMs: nowMs - BACK_MS, toMs: nowMs + AHEAD_MS }
  const eventQuery = await buildEventQuery(world, actor, { datasets: [dataset], filter: ALL_EVENTS, bounds, signal })
  const { events } = await readEvents(world.events, eventQuery, { limit: LINES_MAX, newestFirst: true, keys: [], withRaw: true })
  return events
    .map(({ raw, timeNs, seq }) => ({
      line: Buffer.from(raw ?? [])
        .toString('utf8')
        .slice(0, LINE_CHARS_MAX),
      storedMs: fromNs(timeNs).ms,
      arrivalMs: arrivalOfSeq(seq),
    }))
    .filter(({ line }) => line !== '')
}

/** The message of a JSON line; other lines as they are. */
export function messageIn(line: string): string {
  const parsed = line.trimStart().startsWith('{') ? parseJson(line) : undefined
  if (typeof parsed !== 'object' || parsed === null) return line
  const fields = new Map<string, unknown>(Object.entries(parsed))
  return messageKeys.map((key) => fields.get(key)).find((value) => typeof value === 'string') ?? ''
}

/** Undefined for text that is no JSON, or was cut. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
