import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { pastOf } from './chart/past.ts'
import { toldOf } from './history.ts'
import { questionOn } from './occasion-question.ts'
import { reportOn } from './report/report.ts'
import { type Briefing, type NotificationRow, selectMail, selectReport } from './rows.ts'

const SAMPLES_MAX = 5
const SAMPLE_CHARS_MAX = 1_000
/** LATE_MS after the change a message goes out with what is known: nothing that is looked up for it may delay it by more than 20 s. */
const LATE_MS = 18_000
const LOOK_UP_MAX_MS = 15_000

/** wantsBriefing tells the notifications that show events: what is over, and tests, show none. */
export const wantsBriefing = ({ test, occasion: { after, monitor } }: Pick<NotificationRow, 'test' | 'occasion'>): boolean =>
  !test && (after === 'ALERT' || after === 'WARN') && monitor.type !== 'USAGE'

/** wantsReport tells the alerts that come with a change of the monitor as a whole, where a report is wanted. */
export const wantsReport = (row: Pick<NotificationRow, 'test' | 'occasion' | 'event_id'>): boolean =>
  wantsBriefing(row) && row.occasion.after === 'ALERT' && row.occasion.monitor.reportEnabled && row.event_id !== null

/** brief looks up what the message about an occasion shows; what cannot be had in time is left out. */
export async function brief(world: World, row: NotificationRow, signal: AbortSignal): Promise<Briefing> {
  const leftMs = Math.min(LOOK_UP_MAX_MS, row.time + LATE_MS - world.clock.nowMs())
  if (leftMs <= 0) return { samples: [] }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(leftMs)])
  const without = (what: string) => (cause: unknown) => {
    signal.throwIfAborted()
    world.log.warn({ err: cause, notification_id: row.id }, what)
    return undefined
  }
  const samples = (await samplesOf(world, row, limit).catch(without('events for a notification could not be read'))) ?? []
  const isMailed = (await selectMail(world.meta, row)) !== undefined
  const [past, report] = await Promise.all([
    isMailed ? pastOf(world, row.org_id, row.occasion, limit).catch(without('the past of a monitor could not be read')) : undefined,
    wantsReport(row) ? reportFor(world, row, samples, limit).catch(without('a report could not be made')) : undefined,
  ])
  return { samples, ...(report === undefined ? {} : { report }), ...(past === undefined ? {} : { past }) }
}

/** reportFor makes one report for a change of the monitor, whichever of its groups tells of it first. */
async function reportFor(world: World, row: NotificationRow, samples: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  const known = row.event_id === null ? undefined : await selectReport(world.meta, row.org_id, row.event_id)
  return known?.ai_report ?? reportOn(world, { row, told: { ...toldOf(world, row), samples }, signal })
}

/** samplesOf are the latest events that the monitor counted, as they were sent. */
async function samplesOf(world: World, { org_id, occasion }: NotificationRow, signal: AbortSignal): Promise<string[]> {
  const { monitor, groups, fromMs, toMs } = occasion
  const [query] = monitor.queries
  const question = query && (await questionOn(world, { orgId: org_id, monitorId: monitor.id, query, groups }, { fromMs, toMs }, signal))
  if (!question) return []
  const { events } = await readEvents(world.events, question, { limit: SAMPLES_MAX, newestFirst: true, keys: [], withRaw: true })
  return events.map(({ raw }) => cut(Buffer.from(raw ?? []).toString('utf8')))
}

const cut = (line: string): string => (line.length <= SAMPLE_CHARS_MAX ? line : `${line.slice(0, SAMPLE_CHARS_MAX - 1)}…`)
