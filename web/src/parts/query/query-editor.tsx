import type { MetricQuery } from '@dendro/api'
import type { TraceableParser } from '@dendro/language/completions'
import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { DatasetPicker } from '../datasets/dataset-picker.tsx'
import { withPlaceholders } from '../templates/placeholders.ts'
import { DatasetSelector } from './dataset-selector.tsx'
import { type Field as KnownField, useKnownFields } from './fields.ts'
import { EVERYTHING, newQuery } from './metric-queries.ts'
import { QueryField } from './query-input.tsx'
import { readFormula, readItem, readKeys, readWhere } from './query-readers.ts'

const QUERIES_MAX = 6
/** The range for suggestions. */
const LATELY = { words: 'Last 1 day' }

type QueryEditorProps = {
  queries: readonly MetricQuery[]
  formula: string
  /** Shows the placeholders of a template query. */
  mark?(query: MetricQuery): ReactNode
  onQueries(queries: MetricQuery[]): void
  onFormula(formula: string): void
}

/** Edits the queries of a metric and the formula over them. */
export function QueryEditor({ queries, formula, mark, onQueries, onFormula }: QueryEditorProps) {
  const change = (at: number, by: MetricQuery) => onQueries(queries.map((one, index) => (index === at ? by : one)))
  const names = queries.map(({ name }) => name)
  const free = ['a', 'b', 'c', 'd', 'e', 'f'].find((name) => queries.every((one) => one.name !== name)) ?? 'g'
  return (
    <div className="flex flex-col gap-2">
      {queries.map((query, at) => (
        <OneQuery
          // biome-ignore lint/suspicious/noArrayIndexKey: a query has no id, and its name changes while typing
          key={at}
          query={query}
          mark={mark}
          onChange={(by) => change(at, by)}
          onRemove={queries.length > 1 ? () => onQueries(queries.filter((_, index) => index !== at)) : undefined}
        />
      ))}
      {queries.length < QUERIES_MAX && (
        <Button size="small" variant="quiet" className="self-start" onClick={() => onQueries([...queries, newQuery(free)])}>
          Add a query for a formula
        </Button>
      )}
      {(queries.length > 1 || formula !== '') && (
        <div>
          <QueryField
            label="Formula"
            text={formula}
            known={{ read: mark ? withPlaceholders(readFormula(names)) : readFormula(names), fields: [], names }}
            onText={onFormula}
          />
          <p className="text-soft text-xs">
            An expression of query names, such as {names[0] ?? 'a'} / {names[1] ?? 'b'} * 100
          </p>
        </div>
      )}
    </div>
  )
}

type OneQueryProps = {
  query: MetricQuery
  mark: QueryEditorProps['mark']
  onChange(by: MetricQuery): void
  onRemove: (() => void) | undefined
}

function OneQuery({ query, mark, onChange, onRemove }: OneQueryProps) {
  const { name, select, from, from_expr, where, groups = [] } = query
  const known =
    useKnownFields({ datasets: from && from.length > 0 ? from : undefined, range: LATELY, refreshCount: 0 }, true).data?.fields ?? []
  const [wantsSelector, setWantsSelector] = useState(false)
  const isPicked = from !== undefined && from.length > 0
  const isSelected = from_expr !== undefined && from_expr !== '' && (from_expr !== EVERYTHING || (wantsSelector && !isPicked))
  const isOpen = mark !== undefined && (from ?? []).some((id) => id.includes('{{'))
  const reading = mark ? withPlaceholders : (read: TraceableParser) => read
  const pick = (ids: string[] | undefined) => {
    setWantsSelector(false)
    const { from: _from, from_expr: _expr, ...rest } = query
    onChange(ids === undefined ? { ...rest, from_expr: EVERYTHING } : { ...rest, from: ids })
  }
  const choose = (selector: string) => {
    setWantsSelector(true)
    const { from: _from, ...rest } = query
    onChange({ ...rest, from_expr: selector.trim() === '' ? EVERYTHING : selector })
  }
  const regroup = (keys: readonly string[]) => {
    const { groups: _groups, ...rest } = query
    onChange(keys.length === 0 ? rest : { ...rest, groups: [...keys] })
  }
  return (
    <fieldset className="grid grid-cols-2 gap-2 rounded border border-line p-2 md:grid-cols-4" aria-label={`Query ${name}`}>
      <Field name="Name">
        <Input className="font-mono" value={name} required onChange={(event) => onChange({ ...query, name: event.target.value })} />
      </Field>
      <QueryField
        label="Measure"
        text={select[0] ?? ''}
        known={{ read: reading(readItem), fields: known }}
        onText={(text) => onChange({ ...query, select: [text] })}
      />
      <Groups groups={groups} read={reading(readKeys)} fields={known} onGroups={regroup} />
      <div className="flex min-w-0 items-end justify-between gap-1">
        {isSelected ? (
          <Button title="Select datasets by name" onClick={() => pick(undefined)}>
            Select by name
          </Button>
        ) : isOpen ? (
          <Field name="Datasets by id" className="flex-1">
            <Input
              className="font-mono"
              value={(from ?? []).join(', ')}
              onChange={(event) => pick(event.target.value === '' ? undefined : event.target.value.split(',').map((id) => id.trim()))}
            />
          </Field>
        ) : (
          <DatasetPicker picked={isPicked ? from : undefined} onPick={pick} onSelector={() => choose('')} />
        )}
        {onRemove && (
          <Button variant="quiet" aria-label={`Remove the query ${name}`} onClick={onRemove}>
            <Icon of={X} size="small" />
          </Button>
        )}
      </div>
      {isSelected && <DatasetSelector selector={from_expr} reading={reading} isBegun={wantsSelector} onSelector={choose} />}
      <QueryField
        className="col-span-full"
        label="Filter"
        placeholder="all events, or field = value AND …"
        text={where}
        known={{ read: reading(readWhere), fields: known }}
        onText={(text) => onChange({ ...query, where: text })}
      />
      {mark && <div className="col-span-full">{mark(query)}</div>}
    </fieldset>
  )
}

/** Edits the list of group keys; the typed text is kept. */
function Groups({
  groups,
  read,
  fields,
  onGroups,
}: {
  groups: readonly string[]
  read: TraceableParser
  fields: readonly KnownField[]
  onGroups(keys: readonly string[]): void
}) {
  const [text, setText] = useState(groups.join(', '))
  const keysIn = (written: string) => written.split(',').flatMap((key) => (key.trim() === '' ? [] : [key.trim()]))
  const isSame = keysIn(text).join(',') === keysIn(groups.join(',')).join(',')
  return (
    <QueryField
      label="Group by"
      placeholder="field, field"
      text={isSame ? text : groups.join(', ')}
      known={{ read, fields }}
      onText={(next) => {
        setText(next)
        onGroups(keysIn(next))
      }}
    />
  )
}
