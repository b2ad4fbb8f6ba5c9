import type { ReactNode } from 'react'
import { Button } from '../../../../ui/button.tsx'
import { Caret } from '../../../../ui/caret.tsx'
import { Popover } from '../../../../ui/popover.tsx'
import { type ChangeParams, type ExploreParams, optional } from '../../explore-params.ts'
import { type Density, type DetailPlacement, densities, detailPlacements, type RowOptions } from './row-options.ts'

type RowsMenuProps = {
  params: ExploreParams
  change: ChangeParams
  density: Density
  detail: DetailPlacement
  setRowOptions: RowOptions['set']
}

type RowToggle = { name: string; note: string; param: 'wrap' | 'fold' | 'gap' | 'asc' }
/** The display options that are on or off. */
export const rowToggles: readonly RowToggle[] = [
  { name: 'Wrap long lines', note: 'Show long lines on several rows', param: 'wrap' },
  { name: 'Collapse repeats', note: 'Neighbors that differ only in numbers and ids', param: 'fold' },
  { name: 'Time between rows', note: 'Since the row above, or since a marked row', param: 'gap' },
  { name: 'Oldest first', note: 'Sort in order of time', param: 'asc' },
]

/** Switches one option on or off. Switching gaps off also clears the marked event. */
export const toggled = (now: ExploreParams, param: RowToggle['param']): ExploreParams =>
  optional({ ...now, [param]: now[param] === true ? undefined : true, ...(param === 'gap' ? { m: undefined } : {}) })

/** RowsMenu has the display options of rows. The URL holds the toggles; the browser stores density and detail placement. */
export function RowsMenu({ params, change, density, detail, setRowOptions }: RowsMenuProps) {
  return (
    <Popover
      label="Row options"
      trigger={
        <Button size="small" variant="quiet" title="Wrapping, density, repeats, times between rows, order">
          Rows <Caret />
        </Button>
      }
    >
      <div className="flex w-72 max-w-full flex-col gap-2 text-sm">
        {rowToggles
          .filter(({ param }) => param !== 'asc' || params.live !== true)
          .map(({ name, note, param }) => (
            <label key={param} className="flex cursor-pointer items-start gap-2 rounded px-1 py-0.5 hover:bg-tint">
              <input
                type="checkbox"
                className="mt-1 accent-accent"
                checked={params[param] === true}
                onChange={() => change((now) => toggled(now, param))}
              />
              <span>
                {name}
                <span className="block text-soft text-xs">{note}</span>
              </span>
            </label>
          ))}
        {params.m !== undefined && (
          <Button size="small" className="self-start" onClick={() => change((now) => optional({ ...now, m: undefined }))}>
            Measure from the row above
          </Button>
        )}
        <Choice name="Density" options={densities} chosen={density} onChoose={(next) => setRowOptions({ density: next })} />
        <Choice name="Event details" options={detailPlacements} chosen={detail} onChoose={(next) => setRowOptions({ detail: next })} />
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
            variant={one === chosen ? 'chosen' : 'plain'}
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
