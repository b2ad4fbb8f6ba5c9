import { ApiFailure } from '@dendro/api/client'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useDatasets } from '../../parts/datasets.ts'
import type { Range, Zone } from '../../parts/time-range.ts'
import { useZone } from '../../parts/zone.ts'
import { type Asked, chosenOf, optional, rangeOf, withQuery } from './asked.ts'
import { isNotValue, isValue, valueText, withClause } from './clauses.ts'
import { type Columns, useColumns } from './columns.ts'
import { followed } from './following.ts'
import { markingOf, searchedWords } from './line-text.ts'
import type { Question } from './questions.ts'
import { useReading } from './reading.ts'
import type { RowLook } from './row.ts'
import type { ValueActions } from './value-menu.tsx'

export type Change = (by: (now: Asked) => Asked) => void

/** useAsked holds what is asked: `question` is of the whole range, `chosen` of the bars that were chosen in it. */
export function useAsked(asked: Asked) {
  const navigate = useNavigate({ from: '/explore' })
  const [turn, setTurn] = useState(0)
  const [zone, setZone] = useZone()
  const change = useCallback<Change>((by) => void navigate({ search: (now) => by(now) }), [navigate])
  const question = useQuestion(asked, rangeOf(asked), turn)
  const chosen = useQuestion(asked, chosenOf(asked), turn)
  return { change, question, chosen, zone, setZone, askAgain: () => setTurn((before) => before + 1) }
}

function useQuestion(asked: Asked, range: Range, turn: number): Question {
  const key = JSON.stringify([asked.d, asked.q, range, turn])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds everything the question is made of
  return useMemo<Question>(() => ({ datasets: asked.d, where: asked.q ?? '', range, turn }), [key])
}

/** useActions are what can be done with any value on the page. */
export function useActions(change: Change, columns: Columns): ValueActions & { narrow(clause: string): void } {
  return useMemo(() => {
    const narrow = (clause: string, isAlone = false) => change((now) => withQuery(now, isAlone ? clause : withClause(now.q ?? '', clause)))
    return {
      narrow,
      include: (key, value) => narrow(isThere(key, value)),
      exclude: (key, value) => narrow(key === '' ? `NOT ${valueText(value)}` : isNotValue(key, value)),
      only: (key, value) => narrow(isThere(key, value), true),
      addColumn: columns.add,
      groupBy: (key) => change((now) => optional({ ...now, by: [key], tab: now.tab === 'chart' ? 'chart' : 'table', live: undefined })),
      follow: (value, atMs) => change((now) => followed(now, value, atMs)),
    }
  }, [change, columns.add])
}

/** A value without a key is text anywhere in a line. */
const isThere = (key: string, value: string): string => (key === '' ? valueText(value) : isValue(key, value))

/** useRowStyle is how rows are shown; `sought` is marked in them besides what was searched. */
export function useRowStyle(asked: Asked, change: Change, question: Question, zone: Zone, sought: string) {
  const datasets = useDatasets()
  const columns = useColumns(asked, change)
  const nameOf = useCallback((id: string) => datasets.byId.get(id)?.dataset ?? id.slice(0, 8), [datasets.byId])
  const { names, widths } = columns
  const { density, detail, set } = useReading()
  const marking = useMemo(() => markingOf(searchedWords(question.where), sought), [question.where, sought])
  const look = useMemo<RowLook>(
    () => ({ zone, columns: names, widths, isWrapped: asked.wrap === true, isGap: asked.gap === true, density, marking, nameOf }),
    [zone, names, widths, asked.wrap, asked.gap, density, marking, nameOf],
  )
  return { datasets, columns, look, detail, setReading: set }
}

export const isOfQuery = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.errors ?? []).some(({ field }) => field === 'where')
