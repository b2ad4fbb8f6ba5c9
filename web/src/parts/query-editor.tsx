import type { Dataset, MetricQuery } from '@dendro/api'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { DatasetPicker } from './dataset-picker.tsx'

const QUERIES_MAX = 6
const EVERYTHING = '*'

/** newQuery counts the events that match. */
export const newQuery = (name: string, more: Partial<MetricQuery> = {}): MetricQuery => ({
  name,
  select: ['count(*)'],
  from_expr: EVERYTHING,
  where: '',
  ...more,
})

type QueryEditorProps = {
  queries: readonly MetricQuery[]
  formula: string
  datasets: readonly Dataset[]
  onQueries(queries: MetricQuery[]): void
  onFormula(formula: string): void
}

/** QueryEditor writes the queries of a metric, and the formula over them where there are several. */
export function QueryEditor({ queries, formula, datasets, onQueries, onFormula }: QueryEditorProps) {
  const change = (at: number, by: MetricQuery) => onQueries(queries.map((one, index) => (index === at ? by : one)))
  const free = ['a', 'b', 'c', 'd', 'e', 'f'].find((name) => queries.every((one) => one.name !== name)) ?? 'g'
  return (
    <div className="flex flex-col gap-2">
      {queries.map((query, at) => (
        <OneQuery
          // biome-ignore lint/suspicious/noArrayIndexKey: a query is known by its place, its name is being written
          key={at}
          query={query}
          datasets={datasets}
          onChange={(by) => change(at, by)}
          onRemove={queries.length > 1 ? () => onQueries(queries.filter((_, index) => index !== at)) : undefined}
        />
      ))}
      {queries.length < QUERIES_MAX && (
        <Button size="small" look="quiet" className="self-start" onClick={() => onQueries([...queries, newQuery(free)])}>
          + another query, for a formula
        </Button>
      )}
      {(queries.length > 1 || formula !== '') && (
        <Field name="Formula" help={`Over the names of the queries, such as ${queries[0]?.name ?? 'a'} / ${queries[1]?.name ?? 'b'} * 100`}>
          <Input className="font-mono" value={formula} onChange={(event) => onFormula(event.target.value)} />
        </Field>
      )}
    </div>
  )
}

type OneQueryProps = {
  query: MetricQuery
  datasets: readonly Dataset[]
  onChange(by: MetricQuery): void
  onRemove: (() => void) | undefined
}

function OneQuery({ query, datasets, onChange, onRemove }: OneQueryProps) {
  const { name, select, from, from_expr, where, groups = [] } = query
  const isSelected = from_expr !== undefined && from_expr !== '' && from_expr !== EVERYTHING
  const pick = (ids: string[] | undefined) => {
    const { from: _from, from_expr: _expr, ...rest } = query
    onChange(ids === undefined ? { ...rest, from_expr: EVERYTHING } : { ...rest, from: ids })
  }
  const regroup = (text: string) => {
    const { groups: _groups, ...rest } = query
    const keys = text.split(',').map((key) => key.trimStart())
    onChange(text.trim() === '' ? rest : { ...rest, groups: keys })
  }
  return (
    <fieldset className="grid grid-cols-2 gap-2 rounded border border-line p-2 md:grid-cols-4" aria-label={`Query ${name}`}>
      <Field name="Name">
        <Input className="font-mono" value={name} required onChange={(event) => onChange({ ...query, name: event.target.value })} />
      </Field>
      <Field name="Measure">
        <Input
          className="font-mono"
          list="measures"
          value={select[0] ?? ''}
          required
          onChange={(event) => onChange({ ...query, select: [event.target.value] })}
        />
      </Field>
      <Field name="By groups of">
        <Input className="font-mono" placeholder="key, key" value={groups.join(',')} onChange={(event) => regroup(event.target.value)} />
      </Field>
      <div className="flex min-w-0 items-end justify-between gap-1">
        {isSelected ? (
          <Field name="Datasets by selector" className="flex-1">
            <Input className="font-mono" value={from_expr} onChange={(event) => onChange({ ...query, from_expr: event.target.value })} />
          </Field>
        ) : (
          <DatasetPicker all={datasets} picked={from && from.length > 0 ? from : undefined} onPick={pick} />
        )}
        {onRemove && (
          <Button look="quiet" aria-label={`Remove the query ${name}`} onClick={onRemove}>
            ×
          </Button>
        )}
      </div>
      <Field name="Only events with" className="col-span-full">
        <Input
          className="font-mono"
          placeholder="all events, or key = value AND …"
          spellCheck={false}
          value={where}
          onChange={(event) => onChange({ ...query, where: event.target.value })}
        />
      </Field>
      <datalist id="measures">
        {['count(*)', 'avg(duration_ms)', 'p95(duration_ms)', 'max(duration_ms)', 'sum(bytes)', 'count_distinct(user)'].map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </fieldset>
  )
}

/** tidied are queries as they are sent: groups without blanks, and none that is empty. */
export const tidied = (queries: readonly MetricQuery[]): MetricQuery[] =>
  queries.map(({ groups, id: _id, ...query }) => {
    const keys = (groups ?? []).map((key) => key.trim()).filter((key) => key !== '')
    return { ...query, where: query.where.trim(), ...(keys.length > 0 ? { groups: keys } : {}) }
  })
