/** A range of event times in milliseconds since 1970, from `fromMs` to `toMs`, exclusive. */
export type ChangedRange = { readonly fromMs: number; readonly toMs: number }

/** Events that may change until `end`. */
export type EventChange = { end(): void }

/**
 * Knows which events may have changed: which inserts and deletions run, and when the others ended, by dataset and time of the events. A result that was
 * read after the last change of its range still holds. It exists only where one process makes all changes of the store.
 */
export type EventChanges = {
  /** The number of changes that have ended. */
  now(): number
  /** Notes a change before it begins. It may also affect nothing. */
  begin(logIds: readonly string[], range: ChangedRange): EventChange
  /** Notes a change of unknown events. */
  beginAnywhere(): EventChange
  /** Whether no change of these events runs or has ended since that number of changes. */
  areUnchanged(logIds: readonly string[], range: ChangedRange, since: number): boolean
  /** The time before which no event of the range has changed since; the end of the range when none has. */
  unchangedUntilMs(logIds: readonly string[], range: ChangedRange, since: number): number
}

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
/** Longer changes are noted by day. */
const MINUTES_MAX = 180
/** Longer ones are noted for the whole dataset. */
const DAYS_MAX = 1_000
/** How many minutes and days are noted for each dataset, and how many datasets. Beyond them changes count for more events than they had. */
const NOTES_MAX = 4_096
const DATASETS_MAX = 20_000

export function openEventChanges(): EventChanges {
  const datasets = new Map<string, DatasetChanges>()
  const anywhere = new Set<EventChange>()
  let ended = 0
  /** The last change of datasets that are not noted. */
  let others = 0

  function datasetOf(logId: string): DatasetChanges {
    const known = datasets.get(logId) ?? new DatasetChanges(others)
    datasets.set(logId, known)
    return known
  }

  function forgetDatasets(): void {
    if (datasets.size <= DATASETS_MAX) return
    others = ended
    for (const [logId, dataset] of datasets) if (!dataset.isChanging) datasets.delete(logId)
  }

  const once = (end: () => void): EventChange => {
    let isOver = false
    return {
      end: () => {
        if (isOver) return
        isOver = true
        ended += 1
        end()
      },
    }
  }

  const unchangedUntilMs: EventChanges['unchangedUntilMs'] = (logIds, range, since) => {
    if (anywhere.size > 0) return range.fromMs
    return Math.min(
      range.toMs,
      ...logIds.map((logId) => {
        const dataset = datasets.get(logId)
        if (dataset) return dataset.unchangedUntilMs(range, since)
        return others <= since ? range.toMs : range.fromMs
      }),
    )
  }

  return {
    now: () => ended,
    begin: (logIds, range) => {
      const changing = logIds.map((logId) => datasetOf(logId))
      for (const dataset of changing) dataset.begin(range)
      return once(() => {
        for (const dataset of changing) dataset.end(range, ended)
        forgetDatasets()
      })
    },
    beginAnywhere: () => {
      const change = once(() => {
        anywhere.delete(change)
        others = ended
        for (const dataset of datasets.values()) dataset.changedAnywhere(ended)
      })
      anywhere.add(change)
      return change
    },
    areUnchanged: (logIds, range, since) => unchangedUntilMs(logIds, range, since) >= range.toMs,
    unchangedUntilMs,
  }
}

/** The changes of one dataset. */
class DatasetChanges {
  readonly #running = new Set<ChangedRange>()
  /** The last change of each minute and day, oldest first. */
  readonly #minutes = new Map<number, number>()
  readonly #days = new Map<number, number>()
  /** The last change of events before a time, as retention deletes them. */
  #old = { toMs: Number.NEGATIVE_INFINITY, at: 0 }
  /** The last change of events of any time. */
  #whole: number

  constructor(whole: number) {
    this.#whole = whole
  }

  get isChanging(): boolean {
    return this.#running.size > 0
  }

  begin(range: ChangedRange): void {
    this.#running.add(range)
  }

  end(range: ChangedRange, at: number): void {
    this.#running.delete(range)
    const { fromMs, toMs } = range
    if (toMs - fromMs <= MINUTES_MAX * MINUTE_MS) note(this.#minutes, numbersIn(range, MINUTE_MS), at)
    else if (toMs - fromMs <= DAYS_MAX * DAY_MS) note(this.#days, numbersIn(range, DAY_MS), at)
    else if (fromMs === Number.NEGATIVE_INFINITY && toMs < Number.POSITIVE_INFINITY)
      this.#old = { toMs: Math.max(this.#old.toMs, toMs), at }
    else this.#whole = at
    this.#shorten()
  }

  changedAnywhere(at: number): void {
    this.#whole = at
  }

  unchangedUntilMs(range: ChangedRange, since: number): number {
    const { fromMs } = range
    if (this.#whole > since || (this.#old.at > since && fromMs < this.#old.toMs)) return fromMs
    let untilMs = range.toMs
    for (const one of this.#running) if (one.fromMs < untilMs && fromMs < one.toMs) untilMs = Math.max(fromMs, one.fromMs)
    for (const [changes, unitMs] of [[this.#minutes, MINUTE_MS] as const, [this.#days, DAY_MS] as const]) {
      const first = firstNotedSince(changes, { fromMs, toMs: untilMs }, unitMs, since)
      if (first !== undefined) untilMs = Math.max(fromMs, first * unitMs)
    }
    return untilMs
  }

  /** The oldest minutes count as changes of their days, the oldest days as changes of the whole dataset. */
  #shorten(): void {
    for (const [minute, at] of overdue(this.#minutes)) note(this.#days, [Math.floor((minute * MINUTE_MS) / DAY_MS)], at)
    for (const [, at] of overdue(this.#days)) this.#whole = Math.max(this.#whole, at)
  }
}

/** Numbers of minutes or days since 1970. */
function numbersIn({ fromMs, toMs }: ChangedRange, unitMs: number): readonly number[] {
  const first = Math.floor(fromMs / unitMs)
  return Array.from({ length: Math.max(0, Math.ceil(toMs / unitMs) - first) }, (_, index) => first + index)
}

function note(changes: Map<number, number>, numbers: readonly number[], at: number): void {
  for (const number of numbers) {
    const before = changes.get(number) ?? 0
    changes.delete(number)
    changes.set(number, Math.max(before, at))
  }
}

/** The first minute or day of the range that has changed since. */
function firstNotedSince(
  changes: ReadonlyMap<number, number>,
  { fromMs, toMs }: ChangedRange,
  unitMs: number,
  since: number,
): number | undefined {
  const [first, end] = [Math.floor(fromMs / unitMs), Math.ceil(toMs / unitMs)]
  if (end - first < changes.size) {
    for (let number = first; number < end; number += 1) if ((changes.get(number) ?? 0) > since) return number
    return undefined
  }
  let found: number | undefined
  for (const [number, at] of changes) if (at > since && number >= first && number < (found ?? end)) found = number
  return found
}

/** Takes the oldest half when there are too many. */
function overdue(changes: Map<number, number>): readonly [number, number][] {
  if (changes.size <= NOTES_MAX) return []
  const oldest = [...changes].slice(0, NOTES_MAX / 2)
  for (const [number] of oldest) changes.delete(number)
  return oldest
}
