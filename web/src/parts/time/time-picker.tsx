import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Popover } from '../../ui/popover.tsx'
import { recentRanges, rememberRange } from './recent-ranges.ts'
import { boundsOf, calendarRange, clockOf, nameOf, presets, type Range, readRange, readTime, type Zone, zoneText } from './time-range.ts'

type TimePickerProps = { range: Range; zone: Zone; onPick(range: Range): void; onZone(zone: Zone): void }

/** Selects a typed range, a preset, two times, or a recent range. */
export function TimePicker({ range, zone, onPick, onZone }: TimePickerProps) {
  const [isOpen, setOpen] = useState(false)
  const pick = (picked: Range) => {
    rememberRange(picked)
    onPick(picked)
    setOpen(false)
  }
  return (
    <Popover
      label="Time range"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button title={`Time range (t): ${nameOf(range, zone)}`} data-key="t" className="min-w-0 max-w-full max-sm:shrink">
          <span className="truncate">{nameOf(range, zone)}</span> <Caret />
        </Button>
      }
    >
      <div className="flex w-100 max-w-full flex-col gap-2">
        <RangeInput onPick={pick} zone={zone} />
        <ul className="grid grid-cols-3 gap-1" aria-label="Presets">
          {presets.map(({ words, name }) => (
            <li key={words}>
              <Button
                className="w-full justify-center"
                variant={'words' in range && range.words === words ? 'main' : 'plain'}
                onClick={() => pick(calendarRange(words, Date.now(), zone))}
              >
                {name}
              </Button>
            </li>
          ))}
        </ul>
        <Moments key={zone} range={range} zone={zone} onPick={pick} />
        <Recent zone={zone} onPick={pick} />
        <div className="flex items-center justify-between gap-2 border-line border-t pt-2 text-soft">
          <span className="min-w-0">Times are shown in {zone === 'utc' ? 'UTC' : zoneText(boundsOf(range, Date.now()).toMs)}</span>
          <Button variant="quiet" onClick={() => onZone(zone === 'utc' ? 'local' : 'utc')}>
            {zone === 'utc' ? 'Use local' : 'Use UTC'}
          </Button>
        </div>
      </div>
    </Popover>
  )
}

function RangeInput({ onPick, zone }: { onPick(range: Range): void; zone: Zone }) {
  const [text, setText] = useState('')
  const understood = text.trim() === '' ? undefined : readRange(text, Date.now(), zone)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (understood) onPick(understood)
  }
  const message =
    text.trim() === '' ? `now ${clockOf(Date.now(), zone).clock.slice(0, 5)}` : understood ? meaning(understood, zone) : 'not understood'
  return (
    <form aria-label="Typed range" onSubmit={send} className="flex flex-col gap-1">
      <input
        className="h-8 rounded border border-line bg-ground px-2"
        placeholder="15m, since 10:30, nov 22 10:30 - 11:00, a timestamp"
        aria-label="Type a time range"
        aria-describedby="range-said"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <span id="range-said" className={`text-xs ${text.trim() !== '' && !understood ? 'text-error' : 'text-soft'}`}>
        {message}
      </span>
    </form>
  )
}

/** Shows how the text was understood, with the dates of calendar ranges. */
const meaning = (range: Range, zone: Zone): string =>
  'words' in range && !/^Last /.test(range.words) ? `${range.words}: ${nameOf(boundsOf(range, Date.now()), zone)}` : nameOf(range, zone)

/** Edits the two ends of a range in the selected zone. */
function Moments({ range, zone, onPick }: { range: Range; zone: Zone; onPick(range: Range): void }) {
  const bounds = boundsOf(range, Date.now())
  const [from, setFrom] = useState(() => fieldText(bounds.fromMs, zone))
  const [to, setTo] = useState(() => fieldText(bounds.toMs, zone))
  const [fromMs, toMs] = [readTime(from, zone), readTime(to, zone)]
  const isWrong = fromMs === undefined || toMs === undefined || toMs <= fromMs
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (!isWrong) onPick({ fromMs, toMs })
  }
  const field = 'h-8 min-w-0 rounded border border-line bg-ground px-2 font-mono text-xs'
  return (
    <form aria-label="Exact times" onSubmit={send} className="grid grid-cols-[1fr_1fr_auto] items-end gap-1 max-sm:grid-cols-1">
      <label className="flex min-w-0 flex-col text-soft text-xs">
        From
        <input className={field} value={from} onChange={(event) => setFrom(event.target.value)} aria-describedby="moments-said" />
      </label>
      <label className="flex min-w-0 flex-col text-soft text-xs">
        To
        <input className={field} value={to} onChange={(event) => setTo(event.target.value)} aria-describedby="moments-said" />
      </label>
      <Button type="submit" className="justify-center" disabled={isWrong}>
        Use
      </Button>
      <span id="moments-said" className="col-span-full text-error text-xs empty:hidden">
        {fromMs === undefined
          ? 'From is not a time'
          : toMs === undefined
            ? 'To is not a time'
            : toMs <= fromMs
              ? 'To must be after From'
              : ''}
      </span>
    </form>
  )
}

const fieldText = (ms: number, zone: Zone): string => `${clockOf(ms, zone).day} ${clockOf(ms, zone).clock.slice(0, 8)}`

function Recent({ zone, onPick }: { zone: Zone; onPick(range: Range): void }) {
  const [ranges] = useState(recentRanges)
  if (ranges.length === 0) return null
  return (
    <ul className="flex flex-col" aria-label="Recent">
      {ranges.map((one) => (
        <li key={JSON.stringify(one)}>
          <button
            type="button"
            className="w-full truncate rounded px-2 py-0.5 text-left text-soft text-xs tabular-nums hover:bg-tint hover:text-ink"
            onClick={() => onPick(one)}
          >
            {nameOf(one, zone)}
          </button>
        </li>
      ))}
    </ul>
  )
}
