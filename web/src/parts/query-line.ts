import { type TraceableParser, parseText } from '@dendro/language/completions'
import type { FieldDiagnostic } from '@dendro/language/language-error'
import { useEffect, useId, useRef, useState } from 'react'
import { type Box, type Heard, type QueryLineWish, useBox, useShown } from './query-box.ts'
import type { EditorKey } from './query-editing.ts'
import { wholeRead } from './reading.ts'
import { type Known, type Suggestion, suggestionsAt } from './suggestions.ts'

/** PAUSE_MS is how long nobody types before what is wrong is said: nobody wants to hear of it in the middle of a word. */
const PAUSE_MS = 600

const deaf: Heard = { onKey: () => false, onLook: () => undefined, onFocus: () => undefined }

/** useQueryLine is what a line of the query language does, besides how it looks. */
export function useQueryLine(wish: QueryLineWish) {
  const id = useId()
  const heard = useRef<Heard>(deaf)
  const box = useBox(wish, heard)
  const [isFocused, setFocused] = useState(false)
  const suggesting = useSuggesting(wish.text, wish.known, box)
  const { problem, fix } = useProblem(wish.text, wish.known, isFocused, box)
  const { list } = suggesting
  const run = () => {
    suggesting.close()
    if (wish.onRun) wish.onRun(box.text())
    else box.home.current?.closest('form')?.requestSubmit()
  }
  heard.current = {
    // An empty line has nothing begun: it waits to be asked, unless there is something that was asked before.
    onLook: (text, cursor) => (text === '' && !wish.known.recent ? suggesting.close() : suggesting.look(text, cursor)),
    onKey: (key, cursor) => keyActs[key]({ ...suggesting, run, fix, cursor, end: box.text().length }),
    onFocus: (now) => {
      setFocused(now)
      if (!now) suggesting.close()
    },
  }
  useShown(box.editor, problem && { position: 0, length: 0, ...problem, title: titleOf(problem) }, {
    'aria-label': wish.label,
    'aria-autocomplete': 'list',
    spellcheck: 'false',
    autocapitalize: 'off',
    ...(list ? { 'aria-controls': id } : {}),
    ...(list && list.at >= 0 ? { 'aria-activedescendant': `${id}-${list.at}` } : {}),
    ...(problem ? { 'aria-invalid': 'true' } : {}),
    ...(problem && isFocused && !list ? { 'aria-describedby': `${id}-problem` } : {}),
  })
  return { id, box, list, problem: isFocused ? problem : undefined, run, fix, take: suggesting.take }
}

type Doing = ReturnType<typeof useSuggesting> & { run(): void; fix: (() => void) | undefined; cursor: number; end: number }

/** What the keys do; each says whether it did something, or else the editor goes on with it. */
const keyActs: Record<EditorKey, (doing: Doing) => boolean> = {
  // Enter asks; only what an arrow was led to is taken by it.
  Enter: ({ chosen, take, run }) => done(chosen ? take(chosen) : run()),
  Tab: ({ active, take }) => active !== undefined && done(take(active)),
  Escape: ({ list, close }) => list !== undefined && done(close()),
  ArrowDown: ({ list, step, lookHere, cursor, end }) => (list ? done(step(1)) : cursor === end && done(lookHere())),
  ArrowUp: ({ list, step }) => list !== undefined && done(step(-1)),
  'Ctrl-Space': ({ lookHere }) => done(lookHere()),
  'Alt-Enter': ({ fix }) => fix !== undefined && done(fix()),
}

const done = (_: unknown): true => true

const titleOf = ({ message, hint, fix }: FieldDiagnostic): string =>
  [hint === undefined ? message : `${message}: ${hint}`, ...(fix ? [`Alt-Enter changes it to ${fix.text.trim()}`] : [])].join('\n')

/** A Spot is where suggestions are made; `at` is the active one, `isChosen` says that an arrow made it so. */
type Spot = { text: string; cursor: number; at: number; isChosen: boolean }

function useSuggesting(now: string, known: Known, box: Box) {
  const [last, setSpot] = useState<Spot>()
  // What was found for a text that is no longer there would be put into the wrong place.
  const spot = last?.text === now ? last : undefined
  const suggestions = spot ? suggestionsAt(spot.text, spot.cursor, known) : []
  const list = spot && suggestions.length > 0 ? { suggestions, at: Math.min(spot.at, suggestions.length - 1) } : undefined
  const active = list?.suggestions[list.at]
  // Of recent queries none is meant until an arrow says so: Tab leaves an empty line as it leaves any other.
  const look = (text: string, cursor: number) => setSpot({ text, cursor, at: text.trim() === '' ? -1 : 0, isChosen: false })
  const close = () => setSpot(undefined)
  return {
    list,
    active,
    chosen: spot?.isChosen ? active : undefined,
    look,
    close,
    lookHere: () => look(box.text(), box.cursor()),
    step: (by: 1 | -1) => {
      if (!spot || !list) return
      const from = list.at < 0 && by < 0 ? 0 : list.at
      setSpot({ ...spot, at: (from + by + list.suggestions.length) % list.suggestions.length, isChosen: true })
    },
    take: ({ from, to, insert, goesOn }: Suggestion) => {
      const text = box.text().slice(0, from) + insert + box.text().slice(to)
      const cursor = from + insert.length
      box.write(text, cursor)
      if (goesOn) look(text, cursor)
      else close()
    },
  }
}

/** useProblem is what is wrong with a text, once nobody has typed for a while; what is only unfinished at the cursor is nothing yet. */
function useProblem(text: string, known: Known, isFocused: boolean, box: Box) {
  const [found, setFound] = useState<{ text: string; problem: FieldDiagnostic | undefined }>()
  const latest = useRef(known)
  latest.current = known
  useEffect(() => {
    let isGone = false
    const look = (read: TraceableParser) => {
      if (isGone) return
      const { problem, isOpen } = text.trim() === '' ? { problem: undefined, isOpen: false } : parseText(read, text)
      const end = (problem?.position ?? 0) + (problem?.length ?? 0)
      const isBeingWritten = isFocused && (isOpen || end === box.cursor())
      setFound({ text, problem: isBeingWritten ? undefined : problem })
    }
    const timer = setTimeout(() => void wholeRead(latest.current.read, text).then(look), isFocused ? PAUSE_MS : 0)
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [text, isFocused, box])
  const problem = found?.text === text ? found.problem : undefined
  const instead = problem?.fix
  const fix =
    instead &&
    (() => {
      const { position, length, text: by } = instead
      box.write(text.slice(0, position) + by + text.slice(position + length), position + by.length)
    })
  return { problem, fix }
}
