import type { TraceableParser } from '@dendro/language/completions'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useDatasetSearch, useFirstDatasets } from '../datasets/datasets.ts'
import { EVERYTHING } from './metric-queries.ts'
import { QueryField, type QueryFocus } from './query-input.tsx'
import { lastWordOf, selectorContext } from './selector-context.ts'

type DatasetSelectorProps = {
  selector: string
  reading?(read: TraceableParser): TraceableParser
  /** isBegun focuses the line when the user has just opened it. */
  isBegun: boolean
  onSelector(selector: string): void
}

/** Edits a dataset selector; the typed text is kept, and an empty one means all datasets. */
export function DatasetSelector({ selector, reading = (read) => read, isBegun, onSelector }: DatasetSelectorProps) {
  const [text, setText] = useState(selector === EVERYTHING ? '' : selector)
  const datasets = useSuggestedDatasets(text)
  const known = useMemo(() => selectorContext(datasets), [datasets])
  const line = useRef<QueryFocus>(null)
  useEffect(() => {
    if (isBegun) line.current?.focus()
  }, [isBegun])
  const isSame = (text.trim() === '' ? EVERYTHING : text) === selector
  return (
    <QueryField
      ref={line}
      className="col-span-full"
      label="Datasets by selector"
      placeholder="all datasets, or environment = 'production' AND …"
      text={isSame ? text : selector}
      known={{ ...known, read: reading(known.read) }}
      onText={(next) => {
        setText(next)
        onSelector(next)
      }}
    />
  )
}

/** The datasets whose names and tags are suggested: all, or of a long list those that a search for the last word finds. */
function useSuggestedDatasets(text: string) {
  const first = useFirstDatasets()
  const found = useDatasetSearch(lastWordOf(text))
  return first.isWhole ? first.records : found.records
}
