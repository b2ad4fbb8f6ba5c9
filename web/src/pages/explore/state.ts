import type { Event } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Range, Zone } from '../../parts/time-range.ts'
import { type Asked, chosenOf, optional, rangeOf, withQuery } from './asked.ts'
import { isNotValue, isValue, withClause } from './clauses.ts'
import { type Columns, useColumns } from './columns.ts'
import type { RowLook } from './event-row.tsx'
import { searchedWords } from './line-text.ts'
import { spotOf, spotText } from './link.ts'
import { type Question, useDatasets } from './questions.ts'
import { keepQuery } from './recent.ts'
import type { ValueActions } from './value-menu.tsx'

export type Change = (by: (now: Asked) => Asked) => void

const ZONE_KEY = 'dendro.zone'

/** useAsked holds what is asked: `question` is of the whole range, `chosen` of the bars that were chosen in it. */
export function useAsked(asked: Asked) {
  const navigate = useNavigate({ from: '/explore' })
  const [turn, setTurn] = useState(0)
  const [zone, setKept] = useState<Zone>(() => (localStorage.getItem(ZONE_KEY) === 'local' ? 'local' : 'utc'))
  const change = useCallback<Change>((by) => void navigate({ search: (now) => by(now) }), [navigate])
  const setZone = (next: Zone) => {
    localStorage.setItem(ZONE_KEY, next)
    setKept(next)
  }
  const question = useQuestion(asked, rangeOf(asked), turn)
  const chosen = useQuestion(asked, chosenOf(asked), turn)
  useEffect(() => keepQuery(question.where), [question.where])
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
      include: (key, value) => narrow(isValue(key, value)),
      exclude: (key, value) => narrow(isNotValue(key, value)),
      only: (key, value) => narrow(isValue(key, value), true),
      addColumn: columns.add,
      groupBy: (key) => change((now) => optional({ ...now, by: [key], tab: now.tab === 'chart' ? 'chart' : 'table', live: undefined })),
    }
  }, [change, columns.add])
}

/** useLook is how rows are shown. */
export function useLook(asked: Asked, change: Change, question: Question, zone: Zone) {
  const datasets = useDatasets()
  const columns = useColumns(asked, change)
  const nameOf = useCallback((id: string) => datasets.byId.get(id)?.dataset ?? id.slice(0, 8), [datasets.byId])
  const { names, widths } = columns
  const look = useMemo<RowLook>(
    () => ({ zone, columns: names, widths, isWrapped: asked.wrap === true, words: searchedWords(question.where), nameOf }),
    [zone, names, widths, asked.wrap, question.where, nameOf],
  )
  return { datasets, columns, look }
}

const NOTHING: ReadonlySet<string> = new Set()

/** useRows is which rows are open, and on which one the keys act. */
export function useRows(change: Change) {
  const [open, setOpen] = useState(NOTHING)
  const [current, setCurrent] = useState(-1)
  const toggle = useCallback((id: string) => {
    setOpen((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }, [])
  const showContext = useCallback((event: Event) => change((now) => ({ ...now, e: spotText(spotOf(event)) })), [change])
  const step = (by: number, all: number) => setCurrent((at) => Math.min(all - 1, Math.max(0, at + by)))
  return { open, current, toggle, step, showContext }
}

export const isOfQuery = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.errors ?? []).some(({ field }) => field === 'where')
