import { X } from 'lucide-react'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import type { Field } from '../../../parts/query/fields.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { keyText } from '../query/clauses.ts'
import { COUNT, measures, percentiles } from './measures.ts'

type GroupBarProps = {
  by: readonly string[]
  measures: readonly string[]
  fields: readonly Field[]
  onGroup(by: string[]): void
  onMeasure(measure: string): void
  /** tools stand at the end of the bar. */
  tools?: ReactNode
}

const PERCENTILES = percentiles.join(', ')
const GROUPS_MAX = 5

/** Selects the fields to group by and the aggregate function. */
export function GroupBar({ by, measures: chosen, fields, onGroup, onMeasure, tools }: GroupBarProps) {
  const measure = chosen[0] ?? COUNT
  const [, functionName = COUNT, field = ''] = /^(\w+)\((.*)\)$/.exec(measure) ?? []
  const selectedMeasure = chosen.length > 1 ? PERCENTILES : (measures.find((one) => one === functionName) ?? COUNT)
  const measureOf = (name: string, key: string) =>
    name === PERCENTILES ? percentiles.map((one) => `${one}(${key})`).join(', ') : `${name}(${key})`
  const id = useId()
  const add = (name: string) => {
    if (name !== '' && !by.includes(name)) onGroup([...by, name])
  }
  return (
    <div className="flex flex-wrap items-center gap-1 border-line border-b px-2 py-1 text-xs">
      <datalist id={id}>
        {fields.map(({ name }) => (
          <option key={name} value={name} />
        ))}
        <option value="@status" />
        <option value="@dataset" />
        <option value="@pattern" />
      </datalist>
      <label className="flex items-center gap-1 text-soft">
        Measure
        <select
          className="h-6.5 rounded border border-line bg-ground px-1 text-ink"
          value={selectedMeasure}
          onChange={(event) => {
            const next = event.target.value
            onMeasure(next === COUNT ? COUNT : measureOf(next, field === '*' || field === '' ? keyText(firstNumericField(fields)) : field))
          }}
        >
          {measures.map((one) => (
            <option key={one} value={one}>
              {one === COUNT ? 'events' : one}
            </option>
          ))}
          <option value={PERCENTILES}>{PERCENTILES}</option>
        </select>
      </label>
      {selectedMeasure !== COUNT && (
        <FieldInput
          key={measure}
          list={id}
          form="Field to measure"
          label="Measured field"
          start={field.replaceAll('"', '')}
          onField={(name) => onMeasure(measureOf(selectedMeasure, keyText(name)))}
        />
      )}
      <span className="ml-2 text-soft">by</span>
      {by.map((name) => (
        <Button
          key={name}
          size="small"
          variant="chosen"
          title="Remove from grouping"
          onClick={() => onGroup(by.filter((one) => one !== name))}
        >
          <span className="font-mono">{name}</span> <Icon of={X} size="small" />
        </Button>
      ))}
      {by.length < GROUPS_MAX && <FieldInput key={by.length} list={id} form="Field for groups" label="Group by" start="" onField={add} />}
      {tools}
    </div>
  )
}

const firstNumericField = (fields: readonly Field[]): string =>
  fields.find(({ values }) => values.length > 0 && values.every(({ value }) => value !== '' && Number.isFinite(Number(value))))?.name ??
  'duration_ms'

type FieldInputProps = { list: string; form: string; label: string; start: string; onField(name: string): void }

/** Takes a field name, typed or selected from the known fields. */
function FieldInput({ list, form, label, start, onField }: FieldInputProps) {
  const [text, setText] = useState(start)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '' && text.trim() !== start) onField(text.trim())
  }
  return (
    <form aria-label={form} onSubmit={submit}>
      <input
        list={list}
        aria-label={label}
        placeholder={label.toLowerCase()}
        className="h-6.5 w-32 rounded border border-line bg-ground px-1.5 font-mono"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          // A selection from the list arrives in one input event.
          if (!(event.nativeEvent instanceof InputEvent) || event.nativeEvent.inputType === 'insertReplacementText')
            onField(event.target.value)
        }}
        onBlur={() => text.trim() !== start && text.trim() !== '' && onField(text.trim())}
      />
    </form>
  )
}
