import type { NotebookStep, SearchDetails } from '@dendro/api'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'
import type { DendroClient } from '../../session/session.ts'
import type { ReadStep, StepResult } from './markdown.ts'

export const NOTEBOOKS = ['notebooks']
export const notebookKey = (id: string) => ['notebook', id]

export function useNotebook(notebookId: string) {
  const client = useClient()
  return useQuery({ queryKey: notebookKey(notebookId), queryFn: ({ signal }) => client.notebooks.get({ params: { notebookId }, signal }) })
}

/** The newest lines that are shown and exported of each step. */
const LINES_MAX = 5

/** What the query of a step finds now, for whoever looks. */
export function useStepResult(details: SearchDetails | undefined) {
  const client = useClient()
  return useQuery(stepQuery(client, details))
}

/** Reads the results of all steps one after the other: many steps are not many queries at once. */
export function useReadResults(): (steps: readonly NotebookStep[]) => Promise<(ReadStep | undefined)[]> {
  const client = useClient()
  const queries = useQueryClient()
  return async (steps) => {
    const results: (ReadStep | undefined)[] = []
    for (const { search_details } of steps)
      results.push(search_details ? await queries.fetchQuery(stepQuery(client, search_details)).catch(failureOf) : undefined)
    return results
  }
}

const failureOf = (thrown: unknown) => ({ failure: thrown instanceof Error ? thrown.message : String(thrown) })

const stepQuery = (client: DendroClient, details: SearchDetails | undefined) => ({
  queryKey: ['notebook step', details],
  enabled: details !== undefined,
  staleTime: 60_000,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<StepResult> => {
    const { from, from_expr, time_range, from_ts, to_ts, where } = details ?? {}
    const body = {
      ...(from && !from_expr ? { from: from.split(':') } : { from_expr: from_expr ?? '*' }),
      ...(time_range ? { time_range } : {}),
      ...(from_ts === undefined ? {} : { from_ts }),
      ...(to_ts === undefined ? {} : { to_ts }),
      ...(where ? { where } : {}),
      select: ['*', '@raw'],
      limit: LINES_MAX,
    }
    const { events, totals, is_exact } = await client.search.run({ body, signal, repeatable: true })
    const lines = events.map((event) => ({ ms: event.metadata.timestamp, text: event['@raw'] ?? '', message: event.message_kvs.message }))
    return { count: Number(totals.count), isExact: is_exact, lines }
  },
})
