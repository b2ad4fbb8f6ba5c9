import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from './client.ts'
import { type Range, timeRangeOf } from './time-range.ts'

/** A Field is a key with its values; `also` is an alias. */
export type Field = { name: string; also?: string; count: number; values: { value: string; count: number }[] }
/** Fields are the keys of a sample; isCut means that a dataset may have more. */
export type Fields = { fields: Field[]; sampled: number; isCut: boolean; ms: number }

/** A Scope is where keys are searched; refreshCount changes with each manual refresh. */
type Scope = { datasets: readonly string[] | undefined; range: Range; refreshCount: number }

/** useKnownFields loads the keys of the newest events with their most frequent values, from a sample. */
export function useKnownFields({ datasets, range, refreshCount }: Scope, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['fields', datasets, range, refreshCount],
    enabled: isOn,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Fields> => {
      const source = datasets === undefined ? {} : { log_id: [...datasets] }
      const startedMs = performance.now()
      const answer = await client.topKeys.get({ query: { ...source, ...timeRangeOf(range), limit: FIELDS_MAX }, signal })
      return { ...merged(Object.values(answer)), ms: performance.now() - startedMs }
    },
  })
}

type Keys = Record<string, { rank: number; values: Record<string, { value: string; rank: number }> }>

/** FIELDS_MAX is how many keys are loaded per dataset; others are requested by name. */
const FIELDS_MAX = 300

function merged(logs: readonly Keys[]): Omit<Fields, 'ms'> {
  const fields = new Map<string, { count: number; values: Map<string, number> }>()
  const isCut = logs.some((keys) => Object.keys(keys).length >= FIELDS_MAX)
  let sampled = 0
  for (const keys of logs) {
    sampled += Math.max(0, ...Object.values(keys).map(({ rank }) => rank))
    for (const [name, { rank, values }] of Object.entries(keys)) {
      const field = fields.get(name) ?? { count: 0, values: new Map() }
      fields.set(name, field)
      field.count += rank
      for (const { value, rank: times } of Object.values(values)) field.values.set(value, (field.values.get(value) ?? 0) + times)
    }
  }
  const list = [...fields].map(([name, { count, values }]) => ({
    name,
    count,
    values: [...values].map(([value, times]) => ({ value, count: times })).sort((a, b) => b.count - a.count),
  }))
  return { fields: list.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)), sampled, isCut }
}
