import { ApiFailure } from '@dendro/api/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../shell/client.ts'
import { type Range, timeRangeOf } from '../time/time-range.ts'

export type FieldType = 'text' | 'number' | 'boolean'
/** A Field is a key with its most frequent values in a sample, which has none of a rare key; `also` is an alias. */
export type Field = { name: string; also?: string; type?: FieldType; count: number; values: { value: string; count: number }[] }
/** The keys of the matching events. areExact means that the counts of fields are of all of them, isExact also those of values. isCut means that there may be more fields. */
export type Fields = { fields: Field[]; events: number; sampled: number; isExact: boolean; areExact: boolean; isCut: boolean; ms: number }

/** How the events with a field are counted: in a sample, which is enough for names that are proposed, in all events unless these are too many, or however many there are. */
type Counting = 'sample' | 'bounded' | 'all'
/** A Scope is where keys are searched; refreshCount changes with each manual refresh. */
type Scope = { datasets: readonly string[] | undefined; where?: string; range: Range; refreshCount: number; counting?: Counting }

/** How many fields are loaded; others are requested by name. */
const FIELDS_MAX = 2_500

const types = { STRING: 'text', NUMBER: 'number', BOOLEAN: 'boolean' } as const

/** The request for the fields of matching events. */
export const fieldsBody = ({ datasets, where = '', range, counting = 'sample' }: Omit<Scope, 'refreshCount'>) => ({
  ...(datasets === undefined ? { from_expr: '*' } : { from: [...datasets] }),
  ...timeRangeOf(range),
  ...(where.trim() === '' ? {} : { where }),
  limit: FIELDS_MAX,
  ...(counting === 'sample' ? { estimate: true } : counting === 'all' ? { exact: true } : {}),
})

const NO_FIELDS = { fields: [], events: 0, sampled: 0, isExact: true, areExact: true, isCut: false }

/** Loads the fields of matching events with their most frequent values, from a sample that is spread evenly over the range. */
export function useKnownFields({ datasets, where = '', range, refreshCount, counting = 'sample' }: Scope, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['fields', datasets, where, range, refreshCount, counting],
    enabled: isOn,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Fields> => {
      const startedMs = performance.now()
      const body = fieldsBody({ datasets, where, range, counting })
      const answer = await client.topKeys.sample({ body, signal, repeatable: true }).catch((thrown: unknown) => {
        // Before the first dataset there are no fields.
        if (datasets === undefined && thrown instanceof ApiFailure && thrown.status === 404) return undefined
        throw thrown
      })
      const ms = performance.now() - startedMs
      if (!answer) return { ...NO_FIELDS, ms }
      const fields = answer.keys.map(({ key, type, count, values }) => ({
        name: key,
        ...(type ? { type: types[type] } : {}),
        count: Number(count),
        values: values.map(({ value, count: times }) => ({ value, count: Number(times) })),
      }))
      const { sampled, is_exact: isExact, are_counts_exact: areExact, is_cut: isCut } = answer
      return { fields, events: Number(answer.count), sampled, isExact, areExact, isCut, ms }
    },
  })
}
