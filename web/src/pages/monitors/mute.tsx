import type { Monitor } from '@dendro/api'
import { useState } from 'react'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'
import { useMute } from './queries.ts'

const HOUR_MS = 3_600_000
const lengths = [
  ['1 hour', HOUR_MS],
  ['4 hours', 4 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 168 * HOUR_MS],
] as const

/** Shows until when a monitor is muted. */
export function mutedText({ muted_until }: Pick<Monitor, 'muted_until'>, zone: Zone): string | undefined {
  if (muted_until === undefined) return undefined
  if (muted_until < 0) return 'muted'
  const { day, clock } = clockOf(muted_until, zone)
  return `muted until ${day} ${clock.slice(0, 5)}`
}

/** Mute suppresses notifications of monitors, until a time or without end, and unmutes them. Muted monitors are still evaluated. */
export function Mute({ monitors, size = 'normal' }: { monitors: readonly Monitor[]; size?: 'normal' | 'small' }) {
  const [isOpen, setOpen] = useState(false)
  const [until, setUntil] = useState('')
  const mute = useMute()
  const isMuted = monitors.some(({ muted_until }) => muted_until !== undefined)
  const named = monitors.length === 1 ? (monitors[0]?.name ?? '') : `${monitors.length} monitors`
  const act = async (untilMs: number) => {
    await mute.mutateAsync({ ids: monitors.map(({ id }) => id), untilMs }).then(
      () => setOpen(false),
      () => undefined,
    )
  }
  const untilMs = Date.parse(until)
  return (
    <Popover
      label="Mute"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size={size} aria-label={`${isMuted ? 'Muted' : 'Mute'} ${named}`}>
          {isMuted ? 'Muted' : 'Mute'} <Caret />
        </Button>
      }
    >
      <div className="flex w-60 max-w-full flex-col gap-2">
        {isMuted && (
          <Button variant="main" disabled={mute.isPending} onClick={() => act(0)}>
            Unmute
          </Button>
        )}
        <div className="grid grid-cols-2 gap-1">
          {lengths.map(([name, ms]) => (
            <Button key={name} disabled={mute.isPending} onClick={() => act(Date.now() + ms)}>
              For {name}
            </Button>
          ))}
        </div>
        <Button disabled={mute.isPending} onClick={() => act(-1)}>
          Forever
        </Button>
        <Field name="Until, in your time zone">
          <Input type="datetime-local" value={until} onChange={(event) => setUntil(event.target.value)} />
        </Field>
        <Button disabled={!(untilMs > Date.now()) || mute.isPending} onClick={() => act(untilMs)}>
          Mute until this time
        </Button>
        {mute.error && <FailureNote thrown={mute.error} />}
      </div>
    </Popover>
  )
}
