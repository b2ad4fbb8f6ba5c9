import { CaseSensitive, Columns3, Hash, ListFilter, type LucideIcon, Pin, PinOff, ToggleLeft } from 'lucide-react'
import { useState } from 'react'
import { count, quantity, share } from '../../../parts/chart/numbers.ts'
import type { Field, Fields, FieldType } from '../../../parts/query/fields.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import type { ValueActions } from '../events/detail/value-menu.tsx'
import { clausesOn } from '../query/clauses.ts'
import { type ExploreQuery, isQueryError } from '../query/explore-query.ts'
import { cutName } from './field-groups.ts'
import { FieldValues } from './field-values.tsx'
import { useFieldCounts } from './use-fields.ts'

const typeIcons: Record<FieldType, LucideIcon> = { text: CaseSensitive, number: Hash, boolean: ToggleLeft }

type FieldItemProps = {
  field: Field
  /** The name within the group of the field. */
  name: string
  query: ExploreQuery
  all: Pick<Fields, 'events' | 'areExact'>
  actions: ValueActions
  isPinned: boolean
  onPin(): void
}

/** A field with its type and share; opened, it shows its values. */
export function FieldItem({ field, name, query, all, actions, isPinned, onPin }: FieldItemProps) {
  const [isOpen, setOpen] = useState(false)
  const isNarrowed = clausesOn(query.where, field.name).length > 0
  const about = all.areExact ? '' : '≈'
  return (
    <li className="group/field relative">
      <details className="rounded" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary
          className="flex cursor-pointer list-none items-center gap-1 rounded px-1 py-0.5 hover:bg-tint"
          title={`${field.name}: in ${all.areExact ? '' : 'about '}${count(field.count)} of ${quantity(all.events, 'event')}`}
        >
          <Icon of={typeIcons[field.type ?? 'text']} size="small" className="text-soft" />
          <FieldName name={name} />
          {isNarrowed && <Icon of={ListFilter} size="small" className="text-accent" />}
          <span className="ml-auto shrink-0 whitespace-nowrap pl-1 text-soft text-xs tabular-nums group-focus-within/field:invisible group-hover/field:invisible">
            {about}
            {share(field.count, all.events)}
          </span>
        </summary>
        {isOpen && <OpenField field={field} query={query} actions={actions} />}
      </details>
      <span className="absolute top-0 right-0.5 flex opacity-0 focus-within:opacity-100 group-hover/field:opacity-100 pointer-coarse:hidden">
        <IconButton icon={Columns3} label={`Add ${field.name} as column`} onClick={() => actions.addColumn(field.name)} />
        <IconButton icon={isPinned ? PinOff : Pin} label={`${isPinned ? 'Unpin' : 'Pin'} ${field.name}`} onClick={onPin} />
      </span>
    </li>
  )
}

/** FieldName is cut in the middle where it is too long. */
function FieldName({ name }: { name: string }) {
  const { head, tail } = cutName(name)
  if (tail === '') return <span className="min-w-0 truncate font-mono text-xs">{name}</span>
  return (
    <span className="flex min-w-0 whitespace-pre font-mono text-xs">
      <span className="truncate">{head}</span>
      <span className="shrink-0">{tail}</span>
    </span>
  )
}

type OpenFieldProps = Pick<FieldItemProps, 'field' | 'query' | 'actions'>

/** Shows estimates until the exact counts arrive. */
function OpenField({ field: { name, values, count: estimate }, query, actions }: OpenFieldProps) {
  const { data, error, refetch } = useFieldCounts(name, query, true)
  if (error && !isQueryError(error)) return <FailureNote thrown={error} again={refetch} isSmall />
  const exact = isQueryError(error) ? undefined : data
  return (
    <>
      <p className="pl-5 text-soft text-xs">
        {exact
          ? `In ${quantity(exact.events, 'event')}${exact.distinctCount > exact.values.length ? `, ${count(exact.distinctCount)} values` : ''}`
          : values.length > 0
            ? '≈ estimates, counting…'
            : 'counting…'}
      </p>
      <FieldValues
        name={name}
        values={exact?.values ?? values}
        all={Math.max(1, exact?.events ?? estimate)}
        where={query.where}
        actions={actions}
      />
    </>
  )
}
