import type { Field } from '../../../parts/fields.ts'
import { count, share } from '../../../parts/numbers.ts'
import { type ValueActions, ValueMenu } from '../events/value-menu.tsx'

type FieldValuesProps = { name: string; values: Field['values']; all: number; actions: ValueActions }

/** FieldValues are the most frequent values of a field, each with its count, its share and a bar. */
export function FieldValues({ name, values, all, actions }: FieldValuesProps) {
  return (
    <ul className="mb-1 pl-4">
      {values.map(({ value, count: occurrences }) => (
        <li key={value}>
          <ValueMenu name={name} value={value} actions={actions} className="relative flex w-full items-center gap-2 px-1 py-0.5">
            <span
              aria-hidden
              className="absolute inset-y-0.5 left-0 rounded-sm bg-tint"
              style={{ width: `${(100 * occurrences) / all}%` }}
            />
            <span className="relative min-w-0 flex-1 truncate font-mono text-xs">{value === '' ? '(empty)' : value}</span>
            <span className="relative text-soft text-xs tabular-nums">
              {count(occurrences)} · {share(occurrences, all)}
            </span>
          </ValueMenu>
        </li>
      ))}
      <li className="flex flex-wrap gap-x-3">
        <button type="button" className="px-1 py-0.5 text-accent text-xs hover:underline" onClick={() => actions.addColumn(name)}>
          Add as column
        </button>
        <button type="button" className="px-1 py-0.5 text-accent text-xs hover:underline" onClick={() => actions.groupBy(name)}>
          Group by
        </button>
      </li>
    </ul>
  )
}
