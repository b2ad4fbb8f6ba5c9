import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Popover } from '../../ui/popover.tsx'
import { type Asked, optional } from './asked.ts'
import { type Density, type DetailPlace, densities, detailPlaces, type Reading } from './reading.ts'
import type { Change } from './state.ts'

type RowsMenuProps = { asked: Asked; change: Change; density: Density; detail: DetailPlace; setReading: Reading['set'] }

type Turn = { name: string; note: string; of: 'wrap' | 'fold' | 'gap' | 'asc' }
/** turns are the ways of showing rows that are on or off. */
export const turns: readonly Turn[] = [
  { name: 'Wrap long lines', note: 'whole lines over several rows', of: 'wrap' },
  { name: 'Collapse repeats', note: 'neighbours that differ only in numbers and ids', of: 'fold' },
  { name: 'Time between rows', note: 'from the row above, or from one that you mark', of: 'gap' },
  { name: 'Oldest first', note: 'read downwards as it happened', of: 'asc' },
]

/** turned is with one way of showing rows on or off; the time from a marked event goes with the times. */
export const turned = (now: Asked, of: Turn['of']): Asked =>
  optional({ ...now, [of]: now[of] === true ? undefined : true, ...(of === 'gap' ? { m: undefined } : {}) })

/** RowsMenu is how rows are shown: what of it belongs to the question stands in the address, what belongs to the person is kept for them. */
export function RowsMenu({ asked, change, density, detail, setReading }: RowsMenuProps) {
  return (
    <Popover
      label="How rows are shown"
      trigger={
        <Button size="small" look="quiet" title="Wrapping, density, repeats, times between rows, order">
          Rows <span aria-hidden>▾</span>
        </Button>
      }
    >
      <div className="flex w-72 max-w-full flex-col gap-2 text-sm">
        {turns
          .filter(({ of }) => of !== 'asc' || asked.live !== true)
          .map(({ name, note, of }) => (
            <label key={of} className="flex cursor-pointer items-start gap-2 rounded px-1 py-0.5 hover:bg-tint">
              <input
                type="checkbox"
                className="mt-1 accent-accent"
                checked={asked[of] === true}
                onChange={() => change((now) => turned(now, of))}
              />
              <span>
                {name}
                <span className="block text-soft text-xs">{note}</span>
              </span>
            </label>
          ))}
        {asked.m !== undefined && (
          <Button size="small" className="self-start" onClick={() => change((now) => optional({ ...now, m: undefined }))}>
            Measure from the row above again
          </Button>
        )}
        <Choice name="Density" options={densities} chosen={density} onChoose={(next) => setReading({ density: next })} />
        <Choice name="An open event" options={detailPlaces} chosen={detail} onChoose={(next) => setReading({ detail: next })} />
      </div>
    </Popover>
  )
}

type ChoiceProps<N extends string> = { name: ReactNode; options: Record<N, string>; chosen: N; onChoose(next: N): void }

function Choice<N extends string>({ name, options, chosen, onChoose }: ChoiceProps<N>) {
  return (
    <fieldset className="border-line border-t px-1 pt-2">
      <legend className="sr-only">{name}</legend>
      <span aria-hidden className="block text-soft text-xs">
        {name}
      </span>
      <div className="mt-1 flex flex-wrap gap-1">
        {(Object.keys(options) as N[]).map((one) => (
          <Button
            key={one}
            size="small"
            look={one === chosen ? 'chosen' : 'plain'}
            aria-pressed={one === chosen}
            onClick={() => onChoose(one)}
          >
            {options[one]}
          </Button>
        ))}
      </div>
    </fieldset>
  )
}
