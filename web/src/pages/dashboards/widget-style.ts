import type { MetricTimeseries, Widget } from '@dendro/api'
import { type Unit, unitOf, units, unitText } from '../../parts/chart/unit.ts'

/** widgetTypes are the ways in which a widget can draw what it shows. */
export const widgetTypes = [
  ['line', 'Lines'],
  ['area', 'Areas, piled up'],
  ['bar', 'Bars, piled up'],
  ['top-list', 'Top list'],
  ['score', 'One number'],
  ['pie', 'Shares of a whole'],
  ['treemap', 'Tiles'],
] as const satisfies readonly (readonly [Widget['type'], string])[]

/** A Look is what a widget keeps of how it is drawn, beside its type. */
export type WidgetStyle = { unit: Unit | 'auto'; isFine: boolean }

/** USUAL_SLICES are as many as one tells apart; FINE_SLICES show short peaks over a long range. */
const USUAL_SLICES = 120
const FINE_SLICES = 720

/** lookOf reads what a widget keeps; other programs may keep something else there. */
export const styleOf = ({ aux }: Pick<Widget, 'aux'>): WidgetStyle => ({
  unit: units.find((unit) => unit === aux?.unit) ?? 'auto',
  isFine: aux?.fine === true,
})

/** auxOf keeps a look, and leaves what else is kept there alone. */
export function auxOf({ unit, isFine }: WidgetStyle, aux: Widget['aux']): Record<string, unknown> {
  const { unit: _unit, fine: _fine, ...rest } = aux ?? {}
  return { ...rest, ...(unit === 'auto' ? {} : { unit }), ...(isFine ? { fine: true } : {}) }
}

export const slicesFor = ({ isFine }: WidgetStyle): number => (isFine ? FINE_SLICES : USUAL_SLICES)

/** unitFor writes values in the unit that was chosen, or in the one that what is measured seems to have. */
export function unitFor({ unit }: WidgetStyle, [first]: readonly MetricTimeseries[]): (value: number) => string {
  if (unit !== 'auto' || !first) return unitText(unit === 'auto' ? 'number' : unit)
  return unitText(unitOf({ select: first.queries[0]?.select ?? [], formula: first.formulas?.[0]?.expression }))
}
