import { parseText, type TraceableParser } from '@dendro/language/completions'
import type { FieldDiagnostic } from '@dendro/language/language-error'
import { patternLabel } from '@dendro/language/pattern-texts'
import { useEffect, useId, useRef, useState } from 'react'
import { usePatternTexts } from '../datasets/pattern-texts.tsx'
import { fixName } from './fix-name.ts'
import { type EditorListeners, type QueryBox, type QueryLineProps, useEditorAttributes, useQueryBox } from './query-box.ts'
import type { EditorKey } from './query-editing.ts'
import { wholeRead } from './query-readers.ts'
import { type QueryContext, type Suggestion, suggestionsAt } from './suggestions.ts'

/** How long typing must pause before errors are shown. */
const PAUSE_MS = 600

const noListeners: EditorListeners = { onKey: () => false, onSuggest: () => undefined, onFocus: () => undefined }

/** The behavior of a query line. */
export function useQueryLine(props: QueryLineProps) {
  const id = useId()
  const listeners = useRef<EditorListeners>(noListeners)
  const box = useQueryBox(props, listeners)
  const [isFocused, setFocused] = useState(false)
  const suggestions = useSuggestions(props.text, props.known, box)
  const { problem, fix } = useProblem(props.text, props.known, isFocused, box)
  const { list } = suggestions
  const texts = usePatternTexts(props.text)
  useEffect(
    () => box.editor?.setNotes(new Map([...texts].map(([patternId, text]) => [patternId, patternLabel(text) ?? '']))),
    [box.editor, texts],
  )
  const run = () => {
    suggestions.close()
    if (props.onRun) props.onRun(box.text())
    else box.home.current?.closest('form')?.requestSubmit()
  }
  listeners.current = {
    // An empty line shows no suggestions by itself, except recent queries.
    onSuggest: (text, cursor) => (text === '' && !props.known.recent ? suggestions.close() : suggestions.suggest(text, cursor)),
    onKey: (key, cursor) => keyActs[key]({ ...suggestions, run, fix, cursor, end: box.text().length }),
    onFocus: (now) => {
      setFocused(now)
      if (!now) suggestions.close()
    },
  }
  useEditorAttributes(box.editor, problem && { position: 0, length: 0, ...problem, title: titleOf(problem) }, {
    'aria-label': props.label,
    'aria-autocomplete': 'list',
    spellcheck: 'false',
    autocapitalize: 'off',
    ...(list ? { 'aria-controls': id } : {}),
    ...(list && list.at >= 0 ? { 'aria-activedescendant': `${id}-${list.at}` } : {}),
    ...(problem ? { 'aria-invalid': 'true' } : {}),
    ...(problem && isFocused && !list ? { 'aria-describedby': `${id}-problem` } : {}),
  })
  return { id, box, list, problem: isFocused ? problem : undefined, run, fix, take: suggestions.take }
}

type KeyContext = ReturnType<typeof useSuggestions> & { run(): void; fix: (() => void) | undefined; cursor: number; end: number }

/** Each key returns true when it handled the event; otherwise the editor handles it. */
const keyActs: Record<EditorKey, (context: KeyContext) => boolean> = {
  // Enter runs the query, unless an arrow key has chosen a suggestion.
  Enter: ({ chosen, take, run }) => done(chosen ? take(chosen) : run()),
  Tab: ({ active, take }) => active !== undefined && done(take(active)),
  Escape: ({ list, close }) => list !== undefined && done(close()),
  ArrowDown: ({ list, step, suggestHere, cursor, end }) => (list ? done(step(1)) : cursor === end && done(suggestHere())),
  ArrowUp: ({ list, step }) => list !== undefined && done(step(-1)),
  'Ctrl-Space': ({ suggestHere }) => done(suggestHere()),
  'Alt-Enter': ({ fix }) => fix !== undefined && done(fix()),
}

const done = (_: unknown): true => true

const titleOf = ({ message, hint, fix }: FieldDiagnostic): string =>
  [hint === undefined ? message : `${message}: ${hint}`, ...(fix ? [`Alt-Enter changes it to ${fixName(fix.text)}`] : [])].join('\n')

/** Where suggestions apply; isChosen means that an arrow key selected the active one. */
type SuggestionState = { text: string; cursor: number; at: number; isChosen: boolean }

function useSuggestions(now: string, known: QueryContext, box: QueryBox) {
  const [last, setSpot] = useState<SuggestionState>()
  // Suggestions for an outdated text would be inserted in the wrong place.
  const spot = last?.text === now ? last : undefined
  const suggestions = spot ? suggestionsAt(spot.text, spot.cursor, known) : []
  const list = spot && suggestions.length > 0 ? { suggestions, at: Math.min(spot.at, suggestions.length - 1) } : undefined
  const active = list?.suggestions[list.at]
  // A recent query needs an arrow key to be chosen, so that Tab still leaves an empty line.
  const suggest = (text: string, cursor: number) => setSpot({ text, cursor, at: text.trim() === '' ? -1 : 0, isChosen: false })
  const close = () => setSpot(undefined)
  return {
    list,
    active,
    chosen: spot?.isChosen ? active : undefined,
    suggest: suggest,
    close,
    suggestHere: () => suggest(box.text(), box.cursor()),
    step: (by: 1 | -1) => {
      if (!spot || !list) return
      const from = list.at < 0 && by < 0 ? 0 : list.at
      setSpot({ ...spot, at: (from + by + list.suggestions.length) % list.suggestions.length, isChosen: true })
    },
    take: ({ from, to, insert, goesOn }: Suggestion) => {
      const text = box.text().slice(0, from) + insert + box.text().slice(to)
      const cursor = from + insert.length
      box.write(text, cursor)
      if (goesOn) suggest(text, cursor)
      else close()
    },
  }
}

/** The error of the text once typing paused; incomplete input at the cursor is no error. */
function useProblem(text: string, known: QueryContext, isFocused: boolean, box: QueryBox) {
  const [found, setFound] = useState<{ text: string; problem: FieldDiagnostic | undefined }>()
  const latest = useRef(known)
  latest.current = known
  useEffect(() => {
    let isGone = false
    const suggest = (read: TraceableParser) => {
      if (isGone) return
      const { problem, isOpen } = text.trim() === '' ? { problem: undefined, isOpen: false } : parseText(read, text)
      const end = (problem?.position ?? 0) + (problem?.length ?? 0)
      const isBeingWritten = isFocused && (isOpen || end === box.cursor())
      setFound({ text, problem: isBeingWritten ? undefined : problem })
    }
    const timer = setTimeout(() => void wholeRead(latest.current.read, text).then(suggest), isFocused ? PAUSE_MS : 0)
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
