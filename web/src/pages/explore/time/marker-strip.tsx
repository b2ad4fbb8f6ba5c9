import { Link } from '@tanstack/react-router'
import { Flag } from 'lucide-react'
import { useState } from 'react'
import { count, quantity } from '../../../parts/chart/numbers.ts'
import { type Status, StatusMark, statusNames } from '../../../parts/records/status.tsx'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Popover } from '../../../ui/popover.tsx'
import type { Bars } from './bars.ts'
import { type Marker, type Markers, startOf } from './markers.ts'

type MarkerStripProps = { markers: readonly Marker[]; bars: Bars; zone: Zone }

const statusColors: Record<Status, string> = { ALERT: 'bg-error', WARN: 'bg-warn', NO_DATA: 'bg-soft', OK: 'bg-accent' }
/** Limits the drawn markers; the list has all of them. */
const DRAWN_MAX = 200

/** Draws monitor status changes and marks as lines, and downtimes as bands, over the histogram. */
export function MarkerStrip({ markers, bars, zone }: MarkerStripProps) {
  const start = bars.bars[0]?.fromMs ?? 0
  const width = bars.stepMs * bars.bars.length
  const at = (ms: number): number => Math.min(100, Math.max(0, (100 * (ms - start)) / width))
  return (
    <div className="pointer-events-none absolute inset-x-0 top-0 h-24 max-sm:h-11">
      {markers.slice(0, DRAWN_MAX).map((one) =>
        one.kind === 'downtime' ? (
          <div
            key={`${one.downtimeId} ${one.fromMs}`}
            data-marker="downtime"
            className="absolute inset-y-0 border-soft/60 border-x border-dashed bg-soft/15"
            style={{ left: `${at(one.fromMs)}%`, width: `${Math.max(0.2, at(one.toMs) - at(one.fromMs))}%` }}
          />
        ) : one.kind === 'mark' ? (
          <div
            key={`${one.atMs} ${one.name}`}
            data-marker="mark"
            className="absolute inset-y-0 w-px border-accent border-l border-dashed"
            style={{ left: `${at(one.atMs)}%` }}
          >
            <span
              title={markerText(one, zone)}
              className="pointer-events-auto absolute top-0 left-0 grid size-3.5 place-items-center rounded-r-sm bg-accent text-accent-ink"
            >
              <Icon of={Flag} size="small" className="size-2.5" />
            </span>
          </div>
        ) : (
          <div
            key={`${one.monitorId} ${one.atMs} ${one.status}`}
            data-marker={one.status}
            className="absolute inset-y-0 w-px"
            style={{ left: `${at(one.atMs)}%` }}
          >
            <span className={`absolute inset-y-0 left-0 w-px ${statusColors[one.status]}`} />
            {/* Keyboard users reach the same links in MarkerList. */}
            <Link
              to="/monitors"
              search={{ id: one.monitorId, evaluation: one.atMs }}
              tabIndex={-1}
              aria-hidden
              title={markerText(one, zone)}
              className="pointer-events-auto absolute top-0 -left-[9px] rounded-sm hover:brightness-110"
            >
              <StatusMark status={one.status} />
            </Link>
          </div>
        ),
      )}
    </div>
  )
}

const timeOf = (ms: number, zone: Zone): string => `${clockOf(ms, zone).day} ${clockOf(ms, zone).clock.slice(0, 8)}`

function markerText(one: Marker, zone: Zone): string {
  if (one.kind === 'mark') return `${one.name}, ${timeOf(one.atMs, zone)}`
  if (one.kind === 'downtime') return `${one.name}: ${timeOf(one.fromMs, zone)} – ${timeOf(one.toMs, zone)}`
  const after = one.before ? ` after ${statusNames[one.before].toLowerCase()}` : ''
  return `${one.name}: ${statusNames[one.status].toLowerCase()}${after} at ${timeOf(one.atMs, zone)}`
}

const markerKinds = [
  ['status', 'status change'],
  ['downtime', 'downtime'],
  ['mark', 'mark'],
] as const

type MarkerListProps = { markers: Markers | undefined; failure: unknown; zone: Zone; onRetry(): unknown }

/** Lists the markers of the histogram, with links to monitors and downtimes. */
export function MarkerList({ markers, failure, zone, onRetry }: MarkerListProps) {
  const [isOpen, setOpen] = useState(false)
  const all = markers?.markers ?? []
  if (all.length === 0 && !failure) return null
  const text = markerKinds
    .map(([kind, noun]) => [all.filter((one) => one.kind === kind).length, noun] as const)
    .flatMap(([many, noun]) => (many > 0 ? [quantity(many, noun)] : []))
    .join(', ')
  return (
    <Popover
      label="Status changes, downtimes and marks"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button
          size="small"
          variant="quiet"
          className="max-sm:gap-1 max-sm:px-1"
          title="Status changes of monitors, downtimes, and marks of saved searches in this range"
        >
          <Icon of={Flag} size="small" className="sm:hidden" />
          <span aria-hidden className="sm:hidden">
            {failure ? '!' : count(all.length)}
          </span>
          <span className="max-sm:sr-only">{failure ? 'Markers failed to load' : text}</span>
        </Button>
      }
    >
      <div className="w-96 max-w-full">
        {failure ? <FailureNote thrown={failure} again={onRetry} /> : null}
        <ol className="max-h-80 divide-y divide-line overflow-auto" aria-label="Markers">
          {all.toReversed().map((one) => (
            <li key={`${one.kind} ${one.name} ${startOf(one)} ${one.kind === 'status' ? one.status : ''}`} className="py-1">
              {one.kind === 'status' ? (
                <Link
                  to="/monitors"
                  search={{ id: one.monitorId, evaluation: one.atMs }}
                  className="flex flex-col rounded px-1 hover:bg-tint"
                >
                  <span className="flex items-center gap-2">
                    <StatusMark status={one.status} isNamed />
                    <span className="min-w-0 truncate">{one.name}</span>
                  </span>
                  <span className="text-soft text-xs tabular-nums">{timeOf(one.atMs, zone)}</span>
                </Link>
              ) : one.kind === 'mark' ? (
                <p className="flex flex-col px-1">
                  <span className="flex items-center gap-2">
                    <Icon of={Flag} size="small" className="text-accent" />
                    <span className="min-w-0 truncate" title={one.name}>
                      {one.name}
                    </span>
                  </span>
                  <span className="text-soft text-xs tabular-nums">{timeOf(one.atMs, zone)}</span>
                </p>
              ) : (
                <Link to="/downtimes" search={{}} className="flex flex-col rounded px-1 hover:bg-tint">
                  <span className="truncate">Downtime: {one.name}</span>
                  <span className="text-soft text-xs tabular-nums">
                    {timeOf(one.fromMs, zone)} – {timeOf(one.toMs, zone)}
                  </span>
                </Link>
              )}
            </li>
          ))}
        </ol>
        {markers && markers.omitted > 0 && (
          <p className="pt-1 text-soft text-xs">Status changes of {quantity(markers.omitted, 'more monitor')} are not shown.</p>
        )}
      </div>
    </Popover>
  )
}
