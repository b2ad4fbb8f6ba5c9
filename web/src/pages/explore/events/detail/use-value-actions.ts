import { useMemo } from 'react'
import { type ChangeParams, optional, withQuery } from '../../explore-params.ts'
import { isAnyOf, isNotValue, isValue, valueText, withClause, withoutClause } from '../../query/clauses.ts'
import type { Columns } from '../list/columns.ts'
import { followParams } from './follow.ts'
import type { ValueActions } from './value-menu.tsx'

/** The actions of any value on the page. */
export function useValueActions(change: ChangeParams, columns: Columns): ValueActions & { addClause(clause: string): void } {
  return useMemo(() => {
    const addClause = (clause: string, isReplacing = false) =>
      change((now) => withQuery(now, isReplacing ? clause : withClause(now.q ?? '', clause)))
    return {
      addClause,
      include: (key, value) => addClause(valueClause(key, value)),
      exclude: (key, value) => addClause(key === '' ? `NOT ${valueText(value)}` : isNotValue(key, value)),
      only: (key, value) => addClause(valueClause(key, value), true),
      includeAny: (key, values) => addClause(isAnyOf(key, values)),
      excludeAny: (key, values) => addClause(`NOT ${isAnyOf(key, values)}`),
      addClauses: (clauses) => change((now) => withQuery(now, clauses.reduce(withClause, now.q ?? ''))),
      removeClause: (clause) => change((now) => withQuery(now, withoutClause(now.q ?? '', clause))),
      addColumn: columns.add,
      groupBy: (key) => change((now) => optional({ ...now, by: [key], tab: now.tab === 'chart' ? 'chart' : 'table', live: undefined })),
      follow: (value, atMs) => change((now) => followParams(now, value, atMs)),
    }
  }, [change, columns.add])
}

/** A value without a field is text anywhere in a line. */
const valueClause = (key: string, value: string): string => (key === '' ? valueText(value) : isValue(key, value))
