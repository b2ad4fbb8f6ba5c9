import type { Dataset } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { useKnownFields } from '../../parts/query/fields.ts'
import { QueryField } from '../../parts/query/query-input.tsx'
import { readWhere } from '../../parts/query/query-readers.ts'
import { useClient } from '../../parts/shell/client.ts'
import type { Range } from '../../parts/time/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { IdForm } from './id-form.tsx'
import type { TraceParams } from './params.ts'
import { ViewLinks } from './view-links.tsx'

type TraceFiltersProps = { params: TraceParams; range: Range; onChange(by: Partial<TraceParams>): void; onOpen(id: string): void }

/** How many datasets are sampled for suggestions. */
const SUGGESTED_MAX = 100
const OFFERED_MAX = 500
const FRESH_MS = 60_000
const NONE: readonly Dataset[] = []

/** The conditions on a span and the order. What is typed applies on Enter. */
export function TraceFilters({ params, range, onChange, onOpen }: TraceFiltersProps) {
  const services = useServices()
  const sampled = services.slice(0, SUGGESTED_MAX).map(({ id }) => id)
  const known = useKnownFields({ datasets: sampled, range, refreshCount: 0 }, sampled.length > 0).data?.fields ?? []
  const [typed, setTyped] = useState(typedIn(params))
  const { q, service, op } = params
  useEffect(() => setTyped(typedIn({ q, service, op })), [q, service, op])
  const operations = known.find(({ name }) => name === '$span.name')?.values ?? []
  const apply = (now: Typed) =>
    onChange({ q: now.q.trim() || undefined, service: now.service.trim() || undefined, op: now.op.trim() || undefined })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    apply(typed)
  }
  return (
    <div className="flex flex-col gap-2">
      <form
        className="grid grid-cols-2 gap-2 md:grid-cols-[minmax(0,3fr)_minmax(0,1fr)_minmax(0,1fr)_auto]"
        aria-label="Conditions"
        onSubmit={submit}
      >
        <QueryField
          className="max-md:col-span-2"
          label="Filter"
          placeholder="all spans, or $http.route = '/cart' AND …"
          text={typed.q}
          known={{ read: readWhere, fields: known }}
          onText={(text) => setTyped({ ...typed, q: text })}
          onRun={(text) => apply({ ...typed, q: text })}
        />
        <Field name="Service">
          <Input
            list="trace-services"
            placeholder="any"
            value={typed.service}
            onChange={({ target }) => setTyped({ ...typed, service: target.value })}
          />
          <datalist id="trace-services">
            {services.map(({ id, dataset }) => (
              <option key={id} value={dataset} />
            ))}
          </datalist>
        </Field>
        <Field name="Operation">
          <Input
            list="trace-operations"
            placeholder="any"
            value={typed.op}
            onChange={({ target }) => setTyped({ ...typed, op: target.value })}
          />
          <datalist id="trace-operations">
            {operations.map(({ value }) => (
              <option key={value} value={value} />
            ))}
          </datalist>
        </Field>
        <Button type="submit" variant="main" className="self-end justify-center max-md:col-span-2">
          Search
        </Button>
      </form>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <ViewLinks params={params} />
        <Choices label="Order" options={orders} value={params.order} onPick={(order) => onChange({ order })} />
        <Choices
          label="Status"
          options={outcomes}
          value={params.status === 'error' ? 'error' : undefined}
          onPick={(status) => onChange({ status })}
        />
        <Choices label="Spans" options={spans} value={params.any} onPick={(any) => onChange({ any })} />
        <IdForm onPick={onOpen} />
      </div>
    </div>
  )
}

/** The services that have reported spans, by name; each is a dataset. */
function useServices(): readonly Dataset[] {
  const client = useClient()
  const { data } = useQuery({
    queryKey: ['datasets', 'services'],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) =>
      (await client.datasets.list({ query: { collection: '.traces', sort: 'name', limit: OFFERED_MAX }, signal })).datasets,
  })
  return data ?? NONE
}

type Typed = { q: string; service: string; op: string }
const typedIn = ({ q = '', service = '', op = '' }: TraceParams): Typed => ({ q, service, op })

const orders = [
  [undefined, 'Newest'],
  ['slowest', 'Slowest'],
] as const

const outcomes = [
  [undefined, 'All'],
  ['error', 'Failing'],
] as const

const spans = [
  [undefined, 'Root spans', 'Spans without a parent: whole requests'],
  [true, 'Any span', 'Any span may meet the conditions'],
] as const
