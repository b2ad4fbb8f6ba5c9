import type { Event } from '@dendro/api'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { count } from '../../../../parts/chart/numbers.ts'
import { Button } from '../../../../ui/button.tsx'
import { Icon } from '../../../../ui/icon.tsx'
import { useShortcuts } from '../../keyboard.ts'
import { lastIndexAtMost } from '../list/repeats.ts'
import { type Rows, useFind } from '../list/rows.ts'

/** The text to find in the loaded rows; the bar is closed while it is undefined. */
export type FindState = ReturnType<typeof useFindState>

/** Holds the find text. Opening an open bar focuses its input. */
export function useFindState() {
  const [text, setText] = useState<string>()
  const bar = useRef<HTMLInputElement>(null)
  const open = () => {
    setText((previous) => previous ?? '')
    bar.current?.focus()
    bar.current?.select()
  }
  return { text, setText, open, bar }
}

type FindBarProps = { find: FindState; rows: Rows; loadedEvents: readonly Event[]; isMore: boolean }

/** Finds a text in the loaded rows and moves between matches, without a request. */
export function FindBar({ find: { text = '', setText, bar }, rows, loadedEvents, isMore }: FindBarProps) {
  const { hits, reached, current, isOnHit, next, previous } = useHits(loadedEvents, text, rows)
  useEffect(() => {
    bar.current?.focus()
  }, [bar])
  const close = () => {
    setText(undefined)
    document.querySelector<HTMLElement>('section[aria-label="Events"]')?.focus()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter') (event.shiftKey ? previous : next)()
    else return
    event.preventDefault()
  }
  const rowCount = hits.length === 1 ? '1 row' : `${count(hits.length)} rows`
  const status = text === '' ? `in ${count(loadedEvents.length)} loaded rows` : `${isOnHit ? `${count(current + 1)} of ` : ''}${rowCount}`
  return (
    <search
      aria-label="Find in loaded rows"
      className="flex min-h-9 shrink-0 flex-wrap items-center gap-1 border-line border-b bg-panel px-2 py-1 text-xs"
    >
      <input
        ref={bar}
        aria-label="Find in loaded rows"
        placeholder="Find in loaded rows"
        className="h-6.5 w-64 max-w-full min-w-0 rounded border border-line bg-ground px-2 font-mono"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      <Button
        size="small"
        disabled={hits.length === 0}
        onClick={previous}
        aria-label="Previous match"
        title="Previous match (Shift Enter, N)"
      >
        <Icon of={ArrowUp} size="small" />
      </Button>
      <Button size="small" disabled={hits.length === 0} onClick={next} aria-label="Next match" title="Next match (Enter, n)">
        <Icon of={ArrowDown} size="small" />
      </Button>
      <span role="status" className="min-w-24 px-1 text-soft tabular-nums">
        {status}
        {text !== '' && reached < loadedEvents.length && ` in the first ${count(reached)}…`}
      </span>
      {isMore && <span className="text-soft max-md:hidden">Only loaded rows are searched.</span>}
      <Button size="small" variant="quiet" className="ml-auto" onClick={close}>
        Close
      </Button>
    </search>
  )
}

/** Finds the matching rows and moves between them; the keys n and N do the same. */
function useHits(loadedEvents: readonly Event[], text: string, rows: Rows) {
  const { hits, reached } = useFind(loadedEvents, text)
  const index = rows.rowMap.indexAt(rows.current)
  const current = lastIndexAtMost(hits, index)
  const isOnHit = hits[current] === index && index >= 0
  const go = (hitIndex: number) => {
    const hit = hits[(hitIndex + hits.length) % hits.length]
    if (hit !== undefined) rows.goTo(hit)
  }
  const next = () => go(current + 1)
  const previous = () => go(isOnHit ? current - 1 : current)
  useShortcuts({ n: next, 'shift n': previous })
  return { hits, reached, current, isOnHit, next, previous }
}
