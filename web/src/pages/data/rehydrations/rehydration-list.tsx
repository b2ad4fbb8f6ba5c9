import type { Rehydration } from '@dendro/api'
import { Link, useSearch } from '@tanstack/react-router'
import { Ban, Check, Clock, LoaderCircle, type LucideIcon, X } from 'lucide-react'
import { useState } from 'react'
import { ago, count, quantity } from '../../../parts/chart/numbers.ts'
import { dottedName, useDatasetsById } from '../../../parts/datasets/datasets.ts'
import { Confirm } from '../../../parts/records/confirm.tsx'
import { Row } from '../../../parts/records/records.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { useZone } from '../../../parts/time/zone.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { originText } from '../sources/origin-text.ts'
import { TransferList } from '../transfer-list.tsx'
import { FileReceipts } from './file-receipts.tsx'
import { filesText } from './files-text.ts'
import { NewRehydration } from './new-rehydration.tsx'
import { isAtWork, progressOf, REHYDRATIONS, useRehydrations } from './rehydrations.ts'

/** The rehydrations with their progress, or the form that begins one. */
export function Rehydrations() {
  const { edit } = useSearch({ from: '/inside/data' })
  return edit === undefined ? <RehydrationList /> : <NewRehydration />
}

const RehydrationList = () => (
  <TransferList
    title="Rehydration"
    label="Rehydrations"
    about="A rehydration reads events from files back into a dataset: those that forwarding and exports have written, and any other files of lines."
    of={useRehydrations()}
    page="rehydrations"
    needs="sources_write"
    action="Rehydrate events"
    empty={{
      title: 'Nothing was rehydrated yet',
      about:
        'When retention has deleted events that you need again, read them from an archive, for a time range and a filter. Doubles are left out.',
    }}
    columns={['Files', 'Dataset', 'Progress', 'Events']}
  >
    {(one) => <RehydrationRow key={one.id} one={one} />}
  </TransferList>
)

const signs: Readonly<Record<Rehydration['status'], { name: string; icon: LucideIcon }>> = {
  CREATED: { name: 'waiting', icon: Clock },
  IN_PROGRESS: { name: 'in progress', icon: LoaderCircle },
  CANCELLING: { name: 'being cancelled', icon: Ban },
  COMPLETE: { name: 'complete', icon: Check },
  CANCELLED: { name: 'cancelled', icon: Ban },
  FAILED: { name: 'failed', icon: X },
}

function RehydrationRow({ one }: { one: Rehydration }) {
  const client = useClient()
  const { nameOf } = useDatasetsById([one.log_id])
  const [zone] = useZone()
  const [isOpen, setOpen] = useState(false)
  const cancel = useSave(() => client.rehydrations.cancel({ params: { rehydrationId: one.id } }), { stale: [REHYDRATIONS] })
  const from = originText(one.origin)
  const canCancel = one.status === 'CREATED' || one.status === 'IN_PROGRESS'
  return (
    <Row
      cells={[
        <>
          <span className="wrap-anywhere font-medium">{from}</span>
          <span className="block text-soft text-xs tabular-nums">
            {rangeText(one, zone)}
            {one.metadata.created_at !== undefined && ` · started ${ago(one.metadata.created_at, Date.now())}`}
          </span>
          {one.filter && <code className="wrap-anywhere block font-mono text-soft text-xs">{one.filter}</code>}
        </>,
        <Link key="dataset" to="/data" search={{ id: one.log_id }} className="text-accent hover:underline">
          {nameOf(one.log_id, dottedName)}
        </Link>,
        <Progress key="progress" one={one} />,
        <Counts key="counts" one={one} />,
      ]}
      below={isOpen && <FileReceipts id={one.id} isAtWork={isAtWork(one)} />}
    >
      <Button size="small" aria-expanded={isOpen} aria-label={`Files of ${from}`} onClick={() => setOpen(!isOpen)}>
        Files
      </Button>
      {canCancel && (
        <Confirm
          size="small"
          action="Stop"
          needs="sources_write"
          label={`Stop reading ${from}`}
          message="Stop this rehydration? What it has stored stays, and a new one leaves it out."
          onYes={() => cancel.mutateAsync()}
        />
      )}
    </Row>
  )
}

function Progress({ one }: { one: Rehydration }) {
  const { status, refused_files, failure_detail } = one
  const percent = progressOf(one)
  return (
    <>
      <span role="status" className={`tabular-nums ${status === 'FAILED' ? 'text-error' : ''}`}>
        <Icon of={signs[status].icon} size="small" /> {signs[status].name}
        {isAtWork(one) && percent !== undefined && ` ${percent} %`}
      </span>
      {isAtWork(one) && <progress className="block h-1.5 w-36" value={percent ?? 0} max={100} aria-label="Progress" />}
      <span className="block text-soft text-xs tabular-nums">{filesText(one)}</span>
      {refused_files > 0 && <span className="block text-error text-xs">{quantity(refused_files, 'file')} refused</span>}
      {failure_detail && <span className="wrap-anywhere block text-error text-xs">{failure_detail}</span>}
    </>
  )
}

function Counts({ one }: { one: Rehydration }) {
  const others: readonly (readonly [number, string])[] = [
    [one.earlier_events, 'stored earlier'],
    [one.unselected_events, 'not selected'],
  ]
  return (
    <>
      <span className="block tabular-nums">{count(one.stored_events)} stored</span>
      {others.map(
        ([events, text]) =>
          events > 0 && (
            <span key={text} className="block text-soft text-xs tabular-nums">
              {count(events)} {text}
            </span>
          ),
      )}
      {one.refused_events > 0 && <span className="block text-error text-xs tabular-nums">{count(one.refused_events)} refused</span>}
    </>
  )
}

/** The time range of a rehydration, to the minute. */
function rangeText({ from_ts, to_ts }: Pick<Rehydration, 'from_ts' | 'to_ts'>, zone: Zone): string {
  const at = (ms: number): string => {
    const { day, clock } = clockOf(ms, zone)
    return `${day} ${clock.slice(0, 5)}`
  }
  if (from_ts === undefined) return to_ts === undefined ? 'all times' : `before ${at(to_ts)}`
  return to_ts === undefined ? `since ${at(from_ts)}` : `${at(from_ts)} to ${at(to_ts)}`
}
