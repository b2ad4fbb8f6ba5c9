import type { SpendPrice, SpendSaving } from '@dendro/api'
import { BYTES_PER_GB, costMember } from './price.ts'

/** A dataset with what arrived in the range, the days for which it is kept, and what is known of its use. */
export type SpendingDataset = {
  readonly logId: string
  readonly name: string
  readonly bytes: number
  readonly days: number
  readonly createdAt: number
  /** The last search or export that is known. */
  readonly queriedMs: number | null
  readonly isWatched: boolean
  /** The events of the last days, and those of them that are debug or trace events. */
  readonly counted: number
  readonly debugs: number
}
/** The estimated bytes of a pattern or a field of a dataset. */
export type SpendingPart = { readonly logId: string; readonly name: string; readonly bytes: number }

type Known = {
  readonly datasets: readonly SpendingDataset[]
  readonly patterns: readonly SpendingPart[]
  readonly fields: readonly SpendingPart[]
  readonly price: SpendPrice | undefined
  readonly nowMs: number
  readonly limit: number
}

const DAY_MS = 86_400_000
/** The part of the lines of a pattern that is kept. */
const KEPT_SHARE = 0.1
/** A pattern or a field with less of its dataset is not worth a rule. */
const SHARE_MIN = 0.05
const DEBUG_SHARE_MIN = 0.05
const UNREAD_MS = 28 * DAY_MS
const SHORTEST = { retention: 'DAYS_30', days: 30 } as const
/** Less in 30 days is not worth a rule, and rests on a few samples, of which there is one in 64 KiB. */
const BYTES_MIN = 1_000_000
const PER_DATASET = 3
/** Fields without which nobody understands an event, and what stands for no field. */
const NEEDED =
  /^$|^@|(^|\.)(message|msg|log|text|body|level|lvl|severity|time|timestamp|ts|date|name|id|trace_?id|span_?id|request_?id|status)$/i

/** The ways that save most, those of a dataset at most three. They are not additive: two of one dataset may save the same bytes. */
export function findSavings({ datasets, patterns, fields, price, nowMs, limit }: Known): SpendSaving[] {
  const byId = new Map(datasets.map((dataset) => [dataset.logId, dataset]))
  const partsOf = (parts: readonly SpendingPart[], make: (dataset: SpendingDataset, part: SpendingPart) => Found | undefined) =>
    parts.flatMap((part) => {
      const dataset = byId.get(part.logId)
      return (dataset && part.bytes >= SHARE_MIN * dataset.bytes && make(dataset, part)) || []
    })
  const found = [
    ...partsOf(patterns, samplePattern),
    ...partsOf(fields, removeField),
    ...datasets.flatMap((dataset) => [dropDebug(dataset) ?? [], shortenRetention(dataset, nowMs) ?? []].flat()),
  ]
  const savings = found
    .filter(({ bytes }) => bytes >= BYTES_MIN)
    .map(({ dataset, bytes, keptDays = 0, ...own }): SpendSaving => {
      const byteDays = bytes * (dataset.days - keptDays)
      const saved = { bytes: keptDays > 0 ? 0 : bytes, byteDays }
      return {
        ...own,
        log_id: dataset.logId,
        dataset: dataset.name,
        bytes_saved: Math.round(saved.bytes),
        gb_days_saved: byteDays / BYTES_PER_GB,
        ...(price ? { cost_saved: costMember(saved, price).cost ?? 0 } : {}),
      }
    })
    .sort((a, b) => (b.cost_saved ?? 0) - (a.cost_saved ?? 0) || b.gb_days_saved - a.gb_days_saved || (a.link < b.link ? -1 : 1))
  const taken = new Map<string, number>()
  const chosen = savings.filter(({ log_id }) => {
    taken.set(log_id, (taken.get(log_id) ?? 0) + 1)
    return (taken.get(log_id) ?? 0) <= PER_DATASET
  })
  return chosen.slice(0, limit)
}

type Found = Pick<SpendSaving, 'kind' | 'reason' | 'link' | 'rule' | 'retention' | 'pattern' | 'field'> & {
  dataset: SpendingDataset
  bytes: number
  keptDays?: number
}

function samplePattern(dataset: SpendingDataset, { name, bytes }: SpendingPart): Found {
  const rule = {
    name: `Keep one of ten of a pattern of ${dataset.name}`.slice(0, 100),
    from: [dataset.logId],
    where: `@pattern = '${name}'`,
    action: { type: 'SAMPLE' as const, keep: KEPT_SHARE },
  }
  return {
    kind: 'SAMPLE_PATTERN',
    reason: `One pattern has ${percent(bytes, dataset.bytes)} of the bytes of the dataset. Keeping one of ten of its lines still shows how often it occurs.`,
    pattern: name,
    rule,
    link: rulesLink(rule),
    dataset,
    bytes: bytes * (1 - KEPT_SHARE),
  }
}

function removeField(dataset: SpendingDataset, { name, bytes }: SpendingPart): Found | undefined {
  if (NEEDED.test(name)) return undefined
  const rule = {
    name: `Remove ${name} of ${dataset.name}`.slice(0, 100),
    from: [dataset.logId],
    where: '',
    action: { type: 'REMOVE_FIELDS' as const, names: [name] },
  }
  return {
    kind: 'REMOVE_FIELD',
    reason: `The field has ${percent(bytes, dataset.bytes)} of the bytes of the dataset.`,
    field: name,
    rule,
    link: rulesLink(rule),
    dataset,
    bytes,
  }
}

function dropDebug(dataset: SpendingDataset): Found | undefined {
  const share = dataset.counted === 0 ? 0 : dataset.debugs / dataset.counted
  if (share < DEBUG_SHARE_MIN) return undefined
  const rule = {
    name: `Drop debug events of ${dataset.name}`.slice(0, 100),
    from: [dataset.logId],
    where: "level IN ('debug', 'trace', 'DEBUG', 'TRACE')",
    action: { type: 'DROP' as const },
  }
  return {
    kind: 'DROP_DEBUG',
    reason: `${percent(dataset.debugs, dataset.counted)} of its events of the last days are debug or trace events; their bytes are estimated by that.`,
    rule,
    link: rulesLink(rule),
    dataset,
    bytes: share * dataset.bytes,
  }
}

function shortenRetention(dataset: SpendingDataset, nowMs: number): Found | undefined {
  const { createdAt, queriedMs, isWatched, days } = dataset
  const isUnread = nowMs - createdAt >= UNREAD_MS && (queriedMs === null || nowMs - queriedMs >= UNREAD_MS) && !isWatched
  if (!isUnread || days <= SHORTEST.days) return undefined
  const since = queriedMs === null ? 'ever' : `for ${Math.floor((nowMs - queriedMs) / DAY_MS)} days`
  return {
    kind: 'SHORTEN_RETENTION',
    reason: `No search, export or monitor has read the dataset ${since}, and it is kept for ${days} days.`,
    retention: SHORTEST.retention,
    link: pageLink('data', { id: dataset.logId, part: 'care' }),
    dataset,
    bytes: dataset.bytes,
    keptDays: SHORTEST.days,
  }
}

const percent = (part: number, whole: number): string => `${((100 * Math.min(part, whole)) / whole).toFixed(part < 0.1 * whole ? 1 : 0)} %`

const rulesLink = (draft: NonNullable<SpendSaving['rule']>): string => pageLink('data', { rules: true, draft })

/** A link to a page of the web app. The pages read their parameters as JSON where they parse as such. */
function pageLink(page: string, params: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return `/app/${page}?${new URLSearchParams(pairs)}`
}
