import { ChartNoAxesColumn, Columns3, Minus, Plus, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { count, quantity, share } from '../../../parts/chart/numbers.ts'
import type { Field } from '../../../parts/query/fields.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { type ValueActions, ValueMenu } from '../events/detail/value-menu.tsx'
import { clausesOn, isNotValue, isValue } from '../query/clauses.ts'

type FieldValuesProps = { name: string; values: Field['values']; all: number; where: string; actions: ValueActions }

/**
 * The most frequent values of a field, each with its count, its share and a bar. One click includes or excludes a value, and another one takes that back; several
 * values are selected first. The conditions of the field come first, since an excluded value has no row.
 */
export function FieldValues({ name, values, all, where, actions }: FieldValuesProps) {
  const [selected, setSelected] = useState<readonly string[]>([])
  const chosen = values.map(({ value }) => value).filter((value) => selected.includes(value))
  const select = (value: string) => setSelected((now) => (now.includes(value) ? now.filter((one) => one !== value) : [...now, value]))
  const clauses = clausesOn(where, name)
  const narrow = (act: ValueActions['includeAny']) => {
    setSelected([])
    act(name, chosen)
  }
  return (
    <div className="mb-1 pl-4" data-own-actions>
      {clauses.length > 0 && (
        <ul aria-label={`Filters on ${name}`} className="flex flex-col gap-0.5 py-0.5">
          {clauses.map((clause) => (
            <li key={clause} className="flex items-center rounded bg-tint pl-1 font-mono text-xs">
              <span className="min-w-0 flex-1 truncate" title={clause}>
                {clause}
              </span>
              <IconButton icon={Undo2} label={`Undo ${clause}`} onClick={() => actions.removeClause(clause)} />
            </li>
          ))}
        </ul>
      )}
      <ul>
        {values.map(({ value, count: occurrences }) => (
          <FieldValue
            key={value}
            {...{ name, value, occurrences, all, actions, clauses }}
            isSelected={selected.includes(value)}
            onSelect={values.length > 1 ? () => select(value) : undefined}
          />
        ))}
      </ul>
      {chosen.length > 0 && (
        <p className="flex flex-wrap items-center gap-1 py-1 pl-1">
          <Button size="small" variant="main" onClick={() => narrow(actions.includeAny)}>
            Include {quantity(chosen.length, 'value')}
          </Button>
          <Button size="small" onClick={() => narrow(actions.excludeAny)}>
            Exclude
          </Button>
        </p>
      )}
      <p className="flex flex-wrap gap-x-3">
        <button type="button" className={linkStyle} onClick={() => actions.addColumn(name)}>
          <Icon of={Columns3} size="small" /> Add as column
        </button>
        <button type="button" className={linkStyle} onClick={() => actions.groupBy(name)}>
          <Icon of={ChartNoAxesColumn} size="small" /> Group by
        </button>
      </p>
    </div>
  )
}

const linkStyle = 'inline-flex items-center gap-1 px-1 py-0.5 text-accent text-xs hover:underline'

type FieldValueProps = Omit<FieldValuesProps, 'values' | 'where'> & {
  clauses: readonly string[]
  value: string
  occurrences: number
  isSelected: boolean
  onSelect: (() => void) | undefined
}

function FieldValue({ name, value, occurrences, all, actions, clauses, isSelected, onSelect }: FieldValueProps) {
  const shown = value === '' ? '(empty)' : value
  const [included, excluded] = [isValue(name, value), isNotValue(name, value)]
  return (
    <li className="group/value relative flex items-center gap-1">
      {onSelect && (
        <input
          type="checkbox"
          aria-label={`Select ${shown}`}
          className="size-3 shrink-0 accent-accent"
          checked={isSelected}
          onChange={onSelect}
        />
      )}
      <ValueMenu name={name} value={value} actions={actions} className="relative flex min-w-0 flex-1 items-center gap-2 px-1 py-0.5">
        <span aria-hidden className="absolute inset-y-0.5 left-0 rounded-sm bg-tint" style={{ width: `${(100 * occurrences) / all}%` }} />
        <span className="relative min-w-0 flex-1 truncate font-mono text-xs">{shown}</span>
        <span className="relative text-soft text-xs tabular-nums">
          {count(occurrences)} · {share(occurrences, all)}
        </span>
      </ValueMenu>
      <span className="absolute right-0 flex rounded border border-line bg-panel opacity-0 shadow-sm focus-within:opacity-100 group-hover/value:opacity-100 pointer-coarse:static pointer-coarse:border-0 pointer-coarse:opacity-100 pointer-coarse:shadow-none">
        <IconButton
          icon={Plus}
          label={`Include ${shown}`}
          aria-pressed={clauses.includes(included)}
          className="aria-pressed:text-accent"
          onClick={() => (clauses.includes(included) ? actions.removeClause(included) : actions.include(name, value))}
        />
        <IconButton
          icon={Minus}
          label={`Exclude ${shown}`}
          aria-pressed={clauses.includes(excluded)}
          className="aria-pressed:text-accent"
          onClick={() => (clauses.includes(excluded) ? actions.removeClause(excluded) : actions.exclude(name, value))}
        />
      </span>
    </li>
  )
}
