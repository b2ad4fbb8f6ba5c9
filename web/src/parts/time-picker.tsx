import { type FormEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Popover } from '../ui/popover.tsx'
import { clockOf, nameOf, presets, type Range, readRange, type Zone } from './time-range.ts'

type TimePickerProps = { range: Range; zone: Zone; onPick(range: Range): void; onZone(zone: Zone): void }

/** TimePicker takes a typed range, a preset, or a pasted timestamp. */
export function TimePicker({ range, zone, onPick, onZone }: TimePickerProps) {
  const [isOpen, setOpen] = useState(false)
  const pick = (picked: Range) => {
    onPick(picked)
    setOpen(false)
  }
  return (
    <Popover
      label="Time range"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button title="Time range (t)" data-key="t">
          {nameOf(range, zone)} <span aria-hidden>▾</span>
        </Button>
      }
    >
      <div className="flex w-72 max-w-full flex-col gap-2">
        <Typed onPick={pick} zone={zone} />
        <ul className="grid grid-cols-3 gap-1">
          {presets.map(({ words, name }) => (
            <li key={words}>
              <Button
                className="w-full justify-center"
                look={'words' in range && range.words === words ? 'main' : 'plain'}
                onClick={() => pick({ words })}
              >
                {name}
              </Button>
            </li>
          ))}
        </ul>
        <div className="flex items-center justify-between border-line border-t pt-2 text-soft">
          <span>Times are shown in {zone === 'utc' ? 'UTC' : 'your time zone'}</span>
          <Button look="quiet" onClick={() => onZone(zone === 'utc' ? 'local' : 'utc')}>
            {zone === 'utc' ? 'Use local' : 'Use UTC'}
          </Button>
        </div>
      </div>
    </Popover>
  )
}

function Typed({ onPick, zone }: { onPick(range: Range): void; zone: Zone }) {
  const [text, setText] = useState('')
  const understood = text.trim() === '' ? undefined : readRange(text, Date.now())
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (understood) onPick(understood)
  }
  const said =
    text.trim() === '' ? `now ${clockOf(Date.now(), zone).clock.slice(0, 5)}` : understood ? nameOf(understood, zone) : 'not understood'
  return (
    <form onSubmit={send} className="flex flex-col gap-1">
      <input
        className="h-8 rounded border border-line bg-ground px-2"
        placeholder="15m, yesterday, last 3 weeks, a timestamp"
        aria-label="Type a time range"
        aria-describedby="range-said"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <span id="range-said" className={`text-xs ${text.trim() !== '' && !understood ? 'text-error' : 'text-soft'}`}>
        {said}
      </span>
    </form>
  )
}
