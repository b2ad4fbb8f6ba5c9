import type { Event } from '@dendro/api'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { count } from '../../parts/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { useKeys } from './keys.ts'
import { lastAtMost } from './repeats.ts'
import { type Rows, useFind } from './rows.ts'

/** Seeking is what is looked for among the loaded rows; without a text there is no bar. */
export type Seeking = ReturnType<typeof useSeeking>

/** useSeeking holds what is looked for; opening it again goes to where one writes it. */
export function useSeeking() {
  const [text, setText] = useState<string>()
  const bar = useRef<HTMLInputElement>(null)
  const open = () => {
    setText((before) => before ?? '')
    bar.current?.focus()
    bar.current?.select()
  }
  return { text, setText, open, bar }
}

type FindBarProps = { seeking: Seeking; rows: Rows; found: readonly Event[]; isMore: boolean }

/** FindBar finds a text in the rows that are loaded, and goes from one to the next; it asks the service nothing. */
export function FindBar({ seeking: { text = '', setText, bar }, rows, found, isMore }: FindBarProps) {
  const { hits, reached, at, isOn, next, before } = useHits(found, text, rows)
  useEffect(() => {
    bar.current?.focus()
  }, [bar])
  const close = () => {
    setText(undefined)
    document.querySelector<HTMLElement>('section[aria-label="Events"]')?.focus()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter') (event.shiftKey ? before : next)()
    else return
    event.preventDefault()
  }
  const some = hits.length === 1 ? '1 row' : `${count(hits.length)} rows`
  const said = text === '' ? `in ${count(found.length)} loaded rows` : `${isOn ? `${count(at + 1)} of ` : ''}${some}`
  return (
    <search
      aria-label="Find in the loaded rows"
      className="flex min-h-9 shrink-0 flex-wrap items-center gap-1 border-line border-b bg-panel px-2 py-1 text-xs"
    >
      <input
        ref={bar}
        aria-label="Find in the loaded rows"
        placeholder="Find in the loaded rows"
        className="h-6.5 w-64 max-w-full min-w-0 rounded border border-line bg-ground px-2 font-mono"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      <Button
        size="small"
        disabled={hits.length === 0}
        onClick={before}
        aria-label="The one before"
        title="The one before (Shift Enter, N)"
      >
        ↑
      </Button>
      <Button size="small" disabled={hits.length === 0} onClick={next} aria-label="The next one" title="The next one (Enter, n)">
        ↓
      </Button>
      <span role="status" className="min-w-24 px-1 text-soft tabular-nums">
        {said}
        {text !== '' && reached < found.length && ` in the first ${count(reached)} …`}
      </span>
      {isMore && <span className="text-soft max-md:hidden">Rows below that are not loaded are not looked at.</span>}
      <Button size="small" look="quiet" className="ml-auto" onClick={close}>
        Close
      </Button>
    </search>
  )
}

/** useHits are the rows that have the text, which of them one is at, and how to go on; n and N do so too. */
function useHits(found: readonly Event[], text: string, rows: Rows) {
  const { hits, reached } = useFind(found, text)
  const index = rows.shown.indexAt(rows.current)
  const at = lastAtMost(hits, index)
  const isOn = hits[at] === index && index >= 0
  const go = (place: number) => {
    const hit = hits[(place + hits.length) % hits.length]
    if (hit !== undefined) rows.goTo(hit)
  }
  const next = () => go(at + 1)
  const before = () => go(isOn ? at - 1 : at)
  useKeys({ n: next, 'shift n': before })
  return { hits, reached, at, isOn, next, before }
}
