import { ChevronRight, Search } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { count, quantity } from '../../../parts/chart/numbers.ts'
import type { Field, Fields } from '../../../parts/query/fields.ts'
import { useShown } from '../../../parts/records/long-list.tsx'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { ValueActions } from '../events/detail/value-menu.tsx'
import type { ExploreQuery } from '../query/explore-query.ts'
import { groupFields, type ListedGroup, type ListedNode, leadingFields, matchingFields } from './field-groups.ts'
import { FieldItem } from './field-item.tsx'
import { FieldLookup } from './field-lookup.tsx'
import { usePinnedFields } from './pinned-fields.ts'

type FieldListProps = {
  query: ExploreQuery
  fields: Fields | undefined
  count: Counting
  isStale: boolean
  failure: unknown
  /** False when the query is wrong. */
  hasResult: boolean
  actions: ValueActions
  onRetry(): unknown
}

/** Counts the fields of all events, where the list has estimates. */
type Counting = { isRunning: boolean; failure: unknown; countAll(): void; retry(): unknown }

/** FEW_FIELDS fit on a screen, so that their groups are open at first. */
const FEW_FIELDS = 40
const SHOWN_AT_ONCE = 200

/** Shows the fields of the matching events by prefix, each with its share: of all of them, or an estimate from an even sample, marked by ≈. An open field has exact counts of its values. A name outside the list is looked up in all events. */
export function FieldList({ query, fields, count: counting, isStale, failure, hasResult, actions, onRetry }: FieldListProps) {
  const [typed, setTyped] = useState('')
  const pinned = usePinnedFields()
  const search = typed.trim()
  const all = fields?.fields ?? NO_FIELDS
  const shown = useMemo(() => matchingFields(all, search), [all, search])
  const pins = useMemo(() => shown.filter(({ name }) => pinned.names.includes(name)), [shown, pinned.names])
  const leading = useMemo(() => leadingFields(shown).filter((one) => !pins.includes(one)), [shown, pins])
  const nodes = useMemo(() => groupFields(shown.filter((one) => !pins.includes(one) && !leading.includes(one))), [shown, pins, leading])
  if (failure && !fields) return <FailureNote thrown={failure} again={onRetry} what="Fields" isSmall />
  const item = (field: Field, name = field.name) => (
    <FieldItem
      key={field.name}
      {...{ field, name, query, actions }}
      all={fields ?? NO_EVENTS}
      isPinned={pinned.names.includes(field.name)}
      onPin={() => pinned.toggle(field.name)}
    />
  )
  return (
    <section aria-label="Fields" className="flex h-full flex-col" aria-busy={isStale}>
      <div className="p-2">
        <label className="flex h-7 items-center gap-1.5 rounded border border-line bg-ground px-2 focus-within:border-accent">
          <Icon of={Search} size="small" className="text-soft" />
          <input
            className="min-w-0 flex-1 bg-transparent outline-none"
            placeholder="Find a field"
            aria-label="Find a field"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <p
          className="mt-1 min-h-4 text-soft text-xs"
          title={
            fields && !fields.areExact
              ? `Shares are estimates from ${quantity(fields.sampled, 'event')}, spread evenly over the matches`
              : undefined
          }
        >
          {!fields && (hasResult ? 'Loading fields…' : 'No result')}
          {fields &&
            `${fields.isCut ? 'at least ' : ''}${quantity(fields.fields.length, 'field')} in ${quantity(fields.events, 'event')}${fields.areExact ? '' : ', shares estimated'}`}
          {fields && !fields.areExact && counting.isRunning && <span role="status"> · counting all…</span>}
          {fields && !fields.areExact && !counting.isRunning && !counting.failure && (
            <>
              {' · '}
              <button type="button" className="text-accent hover:underline" onClick={counting.countAll}>
                Count all
              </button>
            </>
          )}
        </p>
        {counting.failure ? <FailureNote thrown={counting.failure} again={counting.retry} what="Exact counts" isSmall /> : null}
      </div>
      {!fields && hasResult && <Skeleton widths={LINES} className="min-h-0 flex-1 overflow-hidden px-2" lineClass="my-2 h-3.5" />}
      <ul className={`min-h-0 flex-1 overflow-auto px-1 pb-4 ${fields ? '' : 'hidden'}`}>
        {pins.length > 0 && (
          <li>
            <p className="px-1 pt-1 text-soft text-xs">Pinned</p>
            <ul className="mb-1 border-line border-b pb-1">{pins.map((field) => item(field))}</ul>
          </li>
        )}
        {leading.map((field) => item(field))}
        <Nodes nodes={nodes} item={item} isOpen={search !== '' || shown.length <= FEW_FIELDS} key={search} />
        {fields && search !== '' && !all.some(({ name }) => name === search) && (
          <FieldLookup key={search} name={search} query={query} hasOthers={shown.length > 0} actions={actions} />
        )}
      </ul>
    </section>
  )
}

const LINES = [55, 75, 40, 65, 50, 70, 35, 60]
const NO_FIELDS: readonly Field[] = []
const NO_EVENTS = { events: 0, areExact: true }

type NodesProps = { nodes: readonly ListedNode[]; isOpen: boolean; item(field: Field, name: string): ReactNode }

function Nodes({ nodes, isOpen, item }: NodesProps) {
  const { shown, more } = useShown(nodes, SHOWN_AT_ONCE)
  return (
    <>
      {shown.map((node) =>
        node.kind === 'field' ? item(node.field, node.name) : <Group key={`${node.path}.`} group={node} isOpen={isOpen} item={item} />,
      )}
      {more && <li>{more}</li>}
    </>
  )
}

function Group({ group, isOpen: isOpenAtFirst, item }: Omit<NodesProps, 'nodes'> & { group: ListedGroup }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        title={`${group.path}: ${quantity(group.size, 'field')}`}
        className="flex w-full items-center gap-1 rounded px-1 py-0.5 text-left hover:bg-tint"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon of={ChevronRight} size="small" className={`text-soft transition-transform ${isOpen ? 'rotate-90' : ''}`} />
        <span className="min-w-0 flex-1 truncate font-mono text-xs">
          {group.name}
          <span className="text-soft">.…</span>
        </span>
        <span className="rounded-full bg-sunk px-1.5 text-soft text-xs tabular-nums">{count(group.size)}</span>
      </button>
      {isOpen && (
        <ul className="ml-2.5 border-line border-l pl-1">
          <Nodes nodes={group.members} isOpen={isOpenAtFirst} item={item} />
        </ul>
      )}
    </li>
  )
}
