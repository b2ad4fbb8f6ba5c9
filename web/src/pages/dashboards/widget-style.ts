import type { MetricTimeseries, Widget } from '@dendro/api'
import type { ChartLevel } from '../../parts/chart/data.ts'
import { type Unit, unitOf, units, unitText } from '../../parts/chart/unit.ts'

/** The visualizations of a widget. */
export const widgetTypes = [
  ['line', 'Lines'],
  ['area', 'Stacked areas'],
  ['bar', 'Stacked bars'],
  ['top-list', 'Top list'],
  ['score', 'Single value'],
  ['pie', 'Pie'],
  ['treemap', 'Treemap'],
] as const satisfies readonly (readonly [Widget['type'], string])[]

/** A WidgetStyle holds display options that the API stores in `aux`. */
export type WidgetStyle = {
  unit: Unit | 'auto'
  isFine: boolean
  /** alert and warning are thresholds that the chart shows as lines. */
  alert?: number | undefined
  warning?: number | undefined
}

/** FINE_SLICES shows short peaks over a long range. */
const USUAL_SLICES = 120
const FINE_SLICES = 720

/** Reads the style from `aux`, where other programs may store other values. */
export const styleOf = ({ aux }: Pick<Widget, 'aux'>): WidgetStyle => ({
  unit: units.find((unit) => unit === aux?.unit) ?? 'auto',
  isFine: aux?.fine === true,
  alert: numberIn(aux?.alert_line),
  warning: numberIn(aux?.warning_line),
})

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** The thresholds as lines of the chart. */
export const levelsFor = ({ alert, warning }: WidgetStyle): ChartLevel[] => [
  ...(warning === undefined ? [] : [{ value: warning, name: 'Warning', kind: 'WARN' as const }]),
  ...(alert === undefined ? [] : [{ value: alert, name: 'Alert', kind: 'ALERT' as const }]),
]

/** Writes the style into `aux` and leaves other members unchanged. */
export function auxOf({ unit, isFine, alert, warning }: WidgetStyle, aux: Widget['aux']): Record<string, unknown> {
  const { unit: _unit, fine: _fine, alert_line: _alert, warning_line: _warning, ...rest } = aux ?? {}
  return {
    ...rest,
    ...(unit === 'auto' ? {} : { unit }),
    ...(isFine ? { fine: true } : {}),
    ...(alert === undefined ? {} : { alert_line: alert }),
    ...(warning === undefined ? {} : { warning_line: warning }),
  }
}

export const slicesFor = ({ isFine }: WidgetStyle): number => (isFine ? FINE_SLICES : USUAL_SLICES)

/** Formats values in the selected unit, or in the unit guessed from the query. */
export function unitFor({ unit }: WidgetStyle, [first]: readonly MetricTimeseries[]): (value: number) => string {
  if (unit !== 'auto' || !first) return unitText(unit === 'auto' ? 'number' : unit)
  return unitText(unitOf({ select: first.queries[0]?.select ?? [], formula: first.formulas?.[0]?.expression }))
}
