import { shorten } from '../../../kernel/shorten.ts'
import { cleanText } from '../../../lines/reference/leaf-text.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { readValueHistory } from './chart/value-history.ts'
import { contentOf } from './content.ts'
import { planMonitorQuery } from './monitor-query.ts'
import { occasionTexts, patternIdsOf } from './pattern-texts.ts'
import { createReport } from './report/report.ts'
import { type Briefing, type NotificationRow, selectMail, selectReport } from './rows.ts'

const SAMPLES_MAX = 5
const SAMPLE_CHARS_MAX = 1_000
/** A message goes out at this age with the data at hand: lookups may delay it by 20 s at most. */
const DEADLINE_MS = 18_000
const LOOKUP_MAX_MS = 15_000
const NO_REPORT = 'What changed could not be computed before this message was sent.'

/** True for notifications that show events or patterns, which have to be read first. */
export const needsBriefing = (row: Pick<NotificationRow, 'test' | 'occasion'>): boolean =>
  wantsBriefing(row) || (!row.test && patternIdsOf(row.occasion).length > 0)

/** True for notifications that show events; recoveries and tests show none. */
const wantsBriefing = ({ test, occasion: { after, monitor } }: Pick<NotificationRow, 'test' | 'occasion'>): boolean =>
  !test && (after === 'ALERT' || after === 'WARN') && monitor.type !== 'USAGE'

/** True for alerts that come with a change of the whole monitor and whose monitor has reports enabled. */
export const wantsReport = (row: Pick<NotificationRow, 'test' | 'occasion' | 'event_id'>): boolean =>
  wantsBriefing(row) && row.occasion.after === 'ALERT' && row.occasion.monitor.reportEnabled && row.event_id !== null

/** Looks up the data of a message; data that is not available in time is left out. */
export async function prepareBriefing(world: World, row: NotificationRow, signal: AbortSignal): Promise<Briefing> {
  const leftMs = Math.min(LOOKUP_MAX_MS, row.time + DEADLINE_MS - world.clock.nowMs())
  if (leftMs <= 0) return { samples: [] }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(leftMs)])
  const without = (what: string) => (cause: unknown) => {
    signal.throwIfAborted()
    world.log.warn({ err: cause, notification_id: row.id }, what)
    return undefined
  }
  const texts = await occasionTexts(world, row, limit).catch(without('the texts of patterns could not be read'))
  const patterns = texts && texts.size > 0 ? Object.fromEntries([...texts].map(([id, text]) => [id, cleanText(text)])) : undefined
  const named = patterns ? { patterns } : {}
  if (!wantsBriefing(row)) return { samples: [], ...named }
  const samples = (await samplesOf(world, row, limit).catch(without('events for a notification could not be read'))) ?? []
  const isMailed = (await selectMail(world.meta, row)) !== undefined
  const [past, report] = await Promise.all([
    isMailed
      ? readValueHistory(world, row.org_id, row.occasion, limit).catch(without('the past of a monitor could not be read'))
      : undefined,
    wantsReport(row)
      ? reportFor(world, row, { samples, ...named }, limit).catch((cause) => without('a report could not be made')(cause) ?? NO_REPORT)
      : undefined,
  ])
  return { samples, ...named, ...(report === undefined ? {} : { report }), ...(past === undefined ? {} : { past }) }
}

/** Creates one report for each change of the monitor, whichever group notifies first. */
async function reportFor(world: World, row: NotificationRow, briefing: Briefing, signal: AbortSignal): Promise<string | undefined> {
  const known = row.event_id === null ? undefined : await selectReport(world.meta, row.org_id, row.event_id)
  return known?.ai_report ?? createReport(world, { row, content: contentOf(world, { ...row, briefing }), signal })
}

/** The latest events that the monitor counted, in their original form without NUL, which the metadata store refuses. */
async function samplesOf(world: World, { org_id, occasion }: NotificationRow, signal: AbortSignal): Promise<string[]> {
  const { monitor, groups, fromMs, toMs } = occasion
  const [query] = monitor.queries
  const eventQuery =
    query && (await planMonitorQuery(world, { orgId: org_id, monitorId: monitor.id, query, groups }, { fromMs, toMs }, signal))
  if (!eventQuery) return []
  const { events } = await readEvents(world.events, eventQuery, { limit: SAMPLES_MAX, newestFirst: true, keys: [], withRaw: true })
  return events.map(({ raw }) => shorten(cleanText(Buffer.from(raw ?? []).toString('utf8')), SAMPLE_CHARS_MAX))
}
