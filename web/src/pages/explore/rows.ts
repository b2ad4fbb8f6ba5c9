import type { Event } from '@dendro/api'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type Asked, optional } from './asked.ts'
import { type Finding, findFurther, nothingFound } from './finding.ts'
import { idOf, spotOf, spotText } from './link.ts'
import type { DetailPlace } from './reading.ts'
import { everyRow, type Folded, foldedRows, foldFurther, NOTHING_FOLDED, type Shown } from './repeats.ts'
import type { RowActs } from './row.ts'
import { NOTHING_NUMBERED, type Numbered, numberedAnew } from './row-numbers.ts'
import type { Change } from './state.ts'
import type { Tray } from './tray.ts'

/** Rows are which events have rows, which of them are open, and on which one the keys act. */
export type Rows = ReturnType<typeof useRows>

const NOTHING: ReadonlySet<string> = new Set()
/** SLICE_MS is how long going through loaded events may hold up the page. */
const SLICE_MS = 8

type RowsOf = { found: readonly Event[]; asked: Asked; change: Change; detail: DetailPlace; tray: Tray }

export function useRows({ found, asked, change, detail, tray }: RowsOf) {
  const [open, setOpen] = useState(NOTHING)
  const [beside, setBeside] = useState<Event>()
  const [spread, setSpread] = useState(NOTHING)
  const [current, setCurrent] = useState(-1)
  const shown = useShown(found, asked.fold === true, spread)
  const eventAt = useCallback((row: number): Event | undefined => found[shown.indexAt(row)], [found, shown])
  const keys = useNumbers(found)
  const keyAt = useCallback((row: number): number => keys[shown.indexAt(row)] ?? -1, [keys, shown])
  const isBeside = detail === 'beside'
  const toggle = useCallback(
    (event: Event) => {
      if (isBeside) setBeside((before) => (before && idOf(before) === idOf(event) ? undefined : event))
      else setOpen((before) => turned(before, idOf(event)))
    },
    [isBeside],
  )
  const acts = useMemo<RowActs>(
    () => ({
      toggle,
      pin: tray.turn,
      showContext: (event) => change((now) => optional({ ...now, e: spotText(spotOf(event)), ew: undefined })),
      measure: (event) => change((now) => measuredFrom(now, spotText(spotOf(event)))),
      spread: (event) => setSpread((before) => turned(before, idOf(event))),
    }),
    [toggle, tray.turn, change],
  )
  const go = (row: number) => {
    setCurrent(row)
    const event = eventAt(row)
    if (beside && event) setBeside(event)
  }
  /** goTo goes to the row of an event, which is spread out where it stood within a run. */
  const goTo = (index: number) => {
    const row = shown.rowOf(index)
    const head = shown.indexAt(row)
    const event = eventAt(row)
    if (head !== index && event) acts.spread(event)
    go(row + index - head)
  }
  const close = () => {
    const event = eventAt(current)
    if (beside) setBeside(undefined)
    else if (event && open.has(idOf(event))) acts.toggle(event)
  }
  return {
    ...{ shown, open, current, acts, go, goTo, close, eventAt, keyAt },
    beside: isBeside ? beside : undefined,
    step: (by: number) => go(Math.min(shown.size - 1, Math.max(0, current + by))),
  }
}

/** measuredFrom counts from an event, or where it was counted from that one already, from row to row again. */
const measuredFrom = (now: Asked, spot: string): Asked => optional({ ...now, gap: true, m: now.m === spot ? undefined : spot })

function turned(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(before)
  if (!next.delete(id)) next.add(id)
  return next
}

/** useShown folds what repeats, a slice at a time, so that nobody waits for two hundred thousand rows. */
function useShown(found: readonly Event[], isFolded: boolean, spread: ReadonlySet<string>): Shown {
  const kept = useRef<Folded>(NOTHING_FOLDED)
  if (isFolded) kept.current = foldFurther(kept.current, found, untilLate())
  const folded = kept.current
  useGoOn(isFolded && folded.reached < found.length)
  return useMemo(() => {
    if (!isFolded) return everyRow(found.length)
    const heads = spread.size === 0 ? [] : folded.heads.filter((head) => found[head] && spread.has(idOf(found[head])))
    return foldedRows(folded, new Set(heads))
  }, [isFolded, found, folded, spread])
}

/** useFind looks for a text in the loaded events, a slice at a time, and again in those that come. */
export function useFind(found: readonly Event[], text: string): Finding {
  const kept = useRef(nothingFound(''))
  kept.current = findFurther(kept.current, text, found, untilLate())
  useGoOn(text !== '' && kept.current.reached < found.length)
  return kept.current
}

/** useNumbers gives every event a number of its own: all rows are placed by it, so that it has to cost nothing. */
function useNumbers(found: readonly Event[]): readonly number[] {
  const kept = useRef<Numbered<Event>>(NOTHING_NUMBERED)
  return useMemo(() => {
    kept.current = numberedAnew(kept.current, found)
    return kept.current.numbers
  }, [found])
}

function untilLate(): () => boolean {
  const endMs = performance.now() + SLICE_MS
  return () => performance.now() < endMs
}

/** useGoOn draws again after the page has had its turn, as long as something is left to do. */
function useGoOn(isMore: boolean): void {
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: every turn asks for the next one
  useEffect(() => {
    if (!isMore) return
    const going = setTimeout(() => setTurn((before) => before + 1))
    return () => clearTimeout(going)
  }, [isMore, turn])
}
