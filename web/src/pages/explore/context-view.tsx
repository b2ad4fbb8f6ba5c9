import type { Event } from '@dendro/api'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Dialog } from 'radix-ui'
import { useCallback, useRef, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { Button } from '../../ui/button.tsx'
import { EventRow, type RowLook } from './event-row.tsx'
import { idOf, type Spot, spotId } from './link.ts'
import type { ValueActions } from './value-menu.tsx'

type Place = { timestamp: number; sequence: bigint; direction: 'before' | 'after' | 'both' }
type ContextViewProps = { anchor: Spot; look: RowLook; actions: ValueActions; onContext(event: Event): void; onClose(): void }

const AROUND = 100
const at = ({ metadata }: Event) => ({ timestamp: metadata.timestamp, sequence: BigInt(metadata.sequence) })

/** ContextView shows what was written before and after one event of its dataset, in exact order, whatever the query. */
export function ContextView({ anchor, look, actions, onContext, onClose }: ContextViewProps) {
  const client = useClient()
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const context = useInfiniteQuery({
    queryKey: ['context', spotId(anchor)],
    initialPageParam: { timestamp: anchor.timestamp, sequence: anchor.sequence, direction: 'both' } as Place,
    queryFn: ({ pageParam, signal }) => client.context.get({ query: { from: [anchor.dataset], limit: AROUND, ...pageParam }, signal }),
    getPreviousPageParam: ({ events: [first] }): Place | undefined => first && { ...at(first), direction: 'before' },
    getNextPageParam: ({ events }): Place | undefined => {
      const last = events.at(-1)
      return last && { ...at(last), direction: 'after' }
    },
  })
  const events = new Map((context.data?.pages ?? []).flatMap((page) => page.events.map((event) => [idOf(event), event] as const)))
  const toggle = useCallback(
    (id: string) => setOpen((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id])),
    [],
  )
  const seen = useRef<string>(undefined)
  const markAnchor = (row: HTMLElement | null) => {
    if (row === null || seen.current === spotId(anchor)) return
    seen.current = spotId(anchor)
    row.scrollIntoView({ block: 'center' })
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/30" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 right-0 z-40 flex w-full max-w-5xl flex-col border-line border-l bg-ground shadow-xl"
        >
          <header className="flex items-center gap-2 border-line border-b bg-panel px-3 py-2">
            <Dialog.Title className="font-semibold">Around this event in {look.nameOf(anchor.dataset)}</Dialog.Title>
            <Dialog.Close asChild>
              <Button className="ml-auto">Close</Button>
            </Dialog.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-auto">
            {context.error && <FailureNote thrown={context.error} again={() => context.refetch()} />}
            {context.data && !events.has(spotId(anchor)) && (
              <p role="alert" className="m-3 text-error">
                The event itself is gone: it is older than what its dataset keeps, or was deleted.
              </p>
            )}
            {context.isPending && <p className="p-3 text-soft">Reading what was around …</p>}
            {context.data && (
              <Button className="m-2" disabled={context.isFetchingPreviousPage} onClick={() => context.fetchPreviousPage()}>
                {context.isFetchingPreviousPage ? 'Reading …' : 'Earlier'}
              </Button>
            )}
            {[...events].map(([id, event]) => (
              <div
                key={id}
                ref={id === spotId(anchor) ? markAnchor : undefined}
                className={id === spotId(anchor) ? 'bg-mark/60' : ''}
                aria-current={id === spotId(anchor) ? 'true' : undefined}
              >
                <EventRow
                  event={event}
                  look={look}
                  isOpen={open.has(id)}
                  isCurrent={false}
                  actions={actions}
                  onToggle={toggle}
                  onContext={onContext}
                />
              </div>
            ))}
            {context.data && (
              <Button className="m-2" disabled={context.isFetchingNextPage} onClick={() => context.fetchNextPage()}>
                {context.isFetchingNextPage ? 'Reading …' : 'Later'}
              </Button>
            )}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
