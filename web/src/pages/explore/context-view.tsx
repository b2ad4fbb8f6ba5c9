import type { Event } from '@dendro/api'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { Button } from '../../ui/button.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { EventRow } from './event-row.tsx'
import { idOf, type Spot, spotId } from './link.ts'
import type { RowActs, RowLook } from './row.ts'
import type { ValueActions } from './value-menu.tsx'

type Side = 'before' | 'after' | 'both'
type Place = { timestamp: number; sequence: bigint; direction: Side }
type ContextViewProps = {
  anchor: Spot
  side: Side
  look: RowLook
  actions: ValueActions
  acts: RowActs
  pinned: ReadonlySet<string>
  onSide(side: Side): void
  onClose(): void
}

const AROUND = 100
const at = ({ metadata }: Event) => ({ timestamp: metadata.timestamp, sequence: BigInt(metadata.sequence) })
const sides: readonly [Side, string][] = [
  ['both', 'Before and after'],
  ['before', 'Before'],
  ['after', 'After'],
]

/** ContextView shows what was written before and after one event of its dataset, in exact order, whatever the query. */
export function ContextView({ anchor, side, look, onSide, onClose, ...rest }: ContextViewProps) {
  const context = useContextOf(anchor, side)
  return (
    <SidePanel
      title={`Around this event in ${look.nameOf(anchor.dataset)}`}
      actions={<Sides side={side} onSide={onSide} />}
      onClose={onClose}
    >
      {context.error && <FailureNote thrown={context.error} again={() => context.refetch()} />}
      {context.isPending && <p className="p-3 text-soft">Reading what was around …</p>}
      {context.data && (
        <>
          {side !== 'after' && (
            <More
              isMore={context.hasPreviousPage}
              isReading={context.isFetchingPreviousPage}
              end="Nothing earlier within a minute"
              onMore={() => context.fetchPreviousPage()}
            >
              Earlier
            </More>
          )}
          <Around key={spotId(anchor)} pages={context.data.pages} anchor={anchor} look={look} {...rest} />
          {side !== 'before' && (
            <More
              isMore={context.hasNextPage}
              isReading={context.isFetchingNextPage}
              end="Nothing later within a minute"
              onMore={() => context.fetchNextPage()}
            >
              Later
            </More>
          )}
        </>
      )}
    </SidePanel>
  )
}

function Sides({ side, onSide }: Pick<ContextViewProps, 'side' | 'onSide'>) {
  return (
    <fieldset className="flex items-center gap-1" aria-label="Which side to show">
      {sides.map(([one, name]) => (
        <Button key={one} size="small" look={one === side ? 'chosen' : 'quiet'} aria-pressed={one === side} onClick={() => onSide(one)}>
          {name}
        </Button>
      ))}
    </fieldset>
  )
}

type Page = { events: Event[] }

/** useContextOf reads on from either end; an end that gives nothing but the event it began at is the last. */
function useContextOf(anchor: Spot, side: Side) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: ['context', spotId(anchor), side],
    initialPageParam: { timestamp: anchor.timestamp, sequence: anchor.sequence, direction: side } as Place,
    queryFn: ({ pageParam, signal }): Promise<Page> =>
      client.context.get({ query: { from: [anchor.dataset], limit: AROUND, ...pageParam }, signal }),
    getPreviousPageParam: ({ events }, pages): Place | undefined => {
      const [first] = events
      return first && (pages.length === 1 || events.length > 1) ? { ...at(first), direction: 'before' } : undefined
    },
    getNextPageParam: ({ events }, pages): Place | undefined => {
      const last = events.at(-1)
      return last && (pages.length === 1 || events.length > 1) ? { ...at(last), direction: 'after' } : undefined
    },
  })
}

type MoreProps = { isMore: boolean; isReading: boolean; end: string; onMore(): unknown; children: ReactNode }

function More({ isMore, isReading, end, onMore, children }: MoreProps) {
  if (!isMore) return <p className="p-2 text-center text-soft text-xs">{end}</p>
  return (
    <Button className="m-2" disabled={isReading} onClick={() => onMore()}>
      {isReading ? 'Reading …' : children}
    </Button>
  )
}

type AroundProps = Pick<ContextViewProps, 'anchor' | 'look' | 'actions' | 'acts' | 'pinned'> & { pages: readonly Page[] }

function Around({ pages, anchor, look, actions, acts, pinned }: AroundProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const events = new Map(pages.flatMap((page) => page.events.map((event) => [idOf(event), event] as const)))
  const own = useMemo<RowActs>(() => {
    const turned = (before: ReadonlySet<string>, id: string) =>
      new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id])
    return { ...acts, toggle: (event) => setOpen((before) => turned(before, idOf(event))) }
  }, [acts])
  const wasSeen = useRef(false)
  const showAnchor = (row: HTMLElement | null) => {
    if (row === null || wasSeen.current) return
    wasSeen.current = true
    row.scrollIntoView({ block: 'center' })
  }
  const whole = useMemo(() => ({ ...look, isGap: false }), [look])
  return (
    <>
      {!events.has(spotId(anchor)) && (
        <p role="alert" className="m-3 text-error">
          The event itself is gone: it is older than what its dataset keeps, or was deleted.
        </p>
      )}
      {[...events].map(([id, event]) => (
        <div
          key={id}
          ref={id === spotId(anchor) ? showAnchor : undefined}
          className={id === spotId(anchor) ? 'bg-mark/60' : ''}
          aria-current={id === spotId(anchor) ? 'true' : undefined}
        >
          <EventRow
            event={event}
            look={whole}
            isOpen={open.has(id)}
            isCurrent={false}
            isPinned={pinned.has(id)}
            actions={actions}
            acts={own}
          />
        </div>
      ))}
    </>
  )
}
