import type { Event } from '@dendro/api'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { useClient } from '../../../../parts/shell/client.ts'
import { FailureNote } from '../../../../parts/shell/failure.tsx'
import { Button } from '../../../../ui/button.tsx'
import { Choices } from '../../../../ui/choices.tsx'
import { SidePanel } from '../../../../ui/side-panel.tsx'
import { Skeleton } from '../../../../ui/skeleton.tsx'
import { ColumnHeaders } from '../list/column-headers.tsx'
import type { Columns } from '../list/columns.ts'
import { EventRow } from '../list/event-row.tsx'
import type { RowActions, RowStyle } from '../list/row-style.ts'
import { type EventRef, eventId, eventRefId } from './event-link.ts'
import { type EventSender, isTrace, sendersOf } from './senders.ts'
import type { ValueActions } from './value-menu.tsx'

type Side = 'before' | 'after' | 'both'
type ContextPosition = { timestamp: number; sequence: bigint; direction: Side }
type ContextViewProps = {
  anchor: EventRef
  side: Side
  /** The condition of one sender. */
  only: string | undefined
  rowStyle: RowStyle
  columns: Columns
  actions: ValueActions
  rowActions: RowActions
  pinnedIds: ReadonlySet<string>
  onSide(side: Side): void
  onOnly(only: string | undefined): void
  onClose(): void
}

const PAGE_EVENTS = 100
const positionOf = ({ metadata }: Event) => ({ timestamp: metadata.timestamp, sequence: BigInt(metadata.sequence) })
const sides: readonly [Side, string][] = [
  ['both', 'Before and after'],
  ['before', 'Before'],
  ['after', 'After'],
]

/** Shows the events before and after one event of its dataset, in exact order, regardless of the query; of one sender where that is selected. */
export function ContextView({ anchor, side, only, rowStyle, onSide, onOnly, onClose, ...rest }: ContextViewProps) {
  const context = useContextEvents(anchor, side, only)
  const event = context.data?.pages.flatMap((page) => page.events).find((one) => eventId(one) === eventRefId(anchor))
  const within = only === undefined ? 'within a minute' : 'nearby'
  return (
    <SidePanel
      title={`Events around this one in ${rowStyle.datasetName(anchor.dataset)}`}
      actions={<SideButtons side={side} onSide={onSide} />}
      onClose={onClose}
    >
      <SenderButtons senders={event ? sendersOf(event) : []} only={only} onOnly={onOnly} />
      {context.error && <FailureNote thrown={context.error} again={() => context.refetch()} />}
      {context.isPending && <Skeleton className="px-3" />}
      {context.data && (
        <>
          {side !== 'after' && (
            <LoadMore
              isMore={context.hasPreviousPage}
              isLoading={context.isFetchingPreviousPage}
              endText={`No earlier events ${within}`}
              onMore={() => context.fetchPreviousPage()}
            >
              Earlier
            </LoadMore>
          )}
          <ContextRows
            key={`${eventRefId(anchor)} ${only ?? ''}`}
            hasDataset={only !== undefined && isTrace(only)}
            pages={context.data.pages}
            anchor={anchor}
            rowStyle={rowStyle}
            {...rest}
          />
          {side !== 'before' && (
            <LoadMore
              isMore={context.hasNextPage}
              isLoading={context.isFetchingNextPage}
              endText={`No later events ${within}`}
              onMore={() => context.fetchNextPage()}
            >
              Later
            </LoadMore>
          )}
        </>
      )}
    </SidePanel>
  )
}

function SideButtons({ side, onSide }: Pick<ContextViewProps, 'side' | 'onSide'>) {
  return <Choices label="Direction" size="small" options={sides} value={side} onPick={onSide} />
}

type SenderButtonsProps = { senders: readonly EventSender[]; only: string | undefined; onOnly(only: string | undefined): void }

/** SenderButtons narrow the context to the service, host, pod or trace of the event. */
function SenderButtons({ senders, only, onOnly }: SenderButtonsProps) {
  const shown =
    only === undefined || senders.some(({ clause }) => clause === only) ? senders : [...senders, { kind: '', value: only, clause: only }]
  if (shown.length === 0) return null
  return (
    <fieldset className="flex flex-wrap items-center gap-1 border-line border-b px-3 py-1 text-xs" aria-label="Events of">
      <span aria-hidden className="text-soft">
        Events of
      </span>
      <Button
        size="small"
        variant={only === undefined ? 'chosen' : 'quiet'}
        aria-pressed={only === undefined}
        onClick={() => onOnly(undefined)}
      >
        all senders
      </Button>
      {shown.map(({ kind, value, clause }) => (
        <Button
          key={clause}
          size="small"
          variant={clause === only ? 'chosen' : 'quiet'}
          aria-pressed={clause === only}
          title={clause}
          className="min-w-0 max-w-64"
          onClick={() => onOnly(clause)}
        >
          {kind !== '' && <span className="text-soft">{kind}</span>} <span className="truncate font-mono">{value}</span>
        </Button>
      ))}
    </fieldset>
  )
}

type ContextPage = { events: Event[] }

/** Loads more events at either end. A page that contains only its starting event is the last. */
function useContextEvents(anchor: EventRef, side: Side, only: string | undefined) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: ['context', eventRefId(anchor), side, only],
    placeholderData: keepPreviousData,
    initialPageParam: { timestamp: anchor.timestamp, sequence: anchor.sequence, direction: side } as ContextPosition,
    queryFn: ({ pageParam, signal }): Promise<ContextPage> =>
      client.context.get({
        query: {
          ...(only !== undefined && isTrace(only) ? { from_expr: '*' } : { from: [anchor.dataset] }),
          ...(only === undefined ? {} : { where: only }),
          limit: PAGE_EVENTS,
          ...pageParam,
        },
        signal,
      }),
    getPreviousPageParam: ({ events }, pages): ContextPosition | undefined => {
      const [first] = events
      return first && (pages.length === 1 || events.length > 1) ? { ...positionOf(first), direction: 'before' } : undefined
    },
    getNextPageParam: ({ events }, pages): ContextPosition | undefined => {
      const last = events.at(-1)
      return last && (pages.length === 1 || events.length > 1) ? { ...positionOf(last), direction: 'after' } : undefined
    },
  })
}

type LoadMoreProps = { isMore: boolean; isLoading: boolean; endText: string; onMore(): unknown; children: ReactNode }

function LoadMore({ isMore, isLoading, endText, onMore, children }: LoadMoreProps) {
  if (!isMore) return <p className="p-2 text-center text-soft text-xs">{endText}</p>
  return (
    <Button className="m-2" disabled={isLoading} onClick={() => onMore()}>
      {isLoading ? 'Loading…' : children}
    </Button>
  )
}

type ContextRowsProps = Pick<ContextViewProps, 'anchor' | 'rowStyle' | 'columns' | 'actions' | 'rowActions' | 'pinnedIds'> & {
  pages: readonly ContextPage[]
  hasDataset: boolean
}

function ContextRows({ pages, hasDataset, anchor, rowStyle, columns, actions, rowActions, pinnedIds }: ContextRowsProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const events = new Map(pages.flatMap((page) => page.events.map((event) => [eventId(event), event] as const)))
  const contextActions = useMemo<RowActions>(() => {
    const toggled = (before: ReadonlySet<string>, id: string) =>
      new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id])
    return { ...rowActions, toggle: (event) => setOpen((before) => toggled(before, eventId(event))) }
  }, [rowActions])
  const wasShown = useRef(false)
  const scrollToAnchor = (row: HTMLElement | null) => {
    if (row === null || wasShown.current) return
    wasShown.current = true
    row.scrollIntoView({ block: 'center' })
  }
  const contextStyle = useMemo(() => ({ ...rowStyle, hasGaps: false, hasDataset }), [rowStyle, hasDataset])
  return (
    <>
      {!events.has(eventRefId(anchor)) && (
        <p role="alert" className="m-3 text-error">
          This event no longer exists: its retention has ended, or it was deleted.
        </p>
      )}
      {columns.names.length > 0 && <ColumnHeaders columns={columns} rowStyle={contextStyle} />}
      {[...events].map(([id, event]) => (
        <div
          key={id}
          ref={id === eventRefId(anchor) ? scrollToAnchor : undefined}
          className={id === eventRefId(anchor) ? 'bg-mark/60' : ''}
          aria-current={id === eventRefId(anchor) ? 'true' : undefined}
        >
          <EventRow
            event={event}
            rowStyle={contextStyle}
            isOpen={open.has(id)}
            isCurrent={false}
            isPinned={pinnedIds.has(id)}
            actions={actions}
            rowActions={contextActions}
          />
        </div>
      ))}
    </>
  )
}
