import type { ContentPackParameter, ContentPackRule, MetricFormula, MetricQuery, Widget } from '@dendro/api'
import { printKey } from '@dendro/language/print'
import type { ContentPack, MonitorDeclaration, PackFormula, PackQuery, WidgetDeclaration } from './pack.ts'

export type FilledWidget = {
  readonly name: string
  readonly type: Widget['type']
  readonly w: number
  readonly h: number
  readonly queries: MetricQuery[]
  readonly formulas: MetricFormula[]
}

export type FilledMonitor = { readonly id: string; readonly name: string; readonly rule: ContentPackRule }

export type LeftOutPart = { readonly kind: 'WIDGET' | 'MONITOR'; readonly name: string; readonly reason: string }

/** A content pack with the parameters of one dataset. */
export type FilledPack = {
  readonly name: string
  readonly description: string
  readonly widgets: readonly FilledWidget[]
  readonly monitors: readonly FilledMonitor[]
  readonly leftOut: readonly LeftOutPart[]
}

type PackDataset = { readonly id: string; readonly collection: string; readonly dataset: string }

/** Fills a pack in. Widgets and monitors with a query of which a field is missing are left out, with the reason. */
export function fillPack(pack: ContentPack, dataset: PackDataset, parameters: readonly ContentPackParameter[]): FilledPack {
  const values = new Map(parameters.map(({ name, value }) => [name, value]))
  const widgets = pack.widgets.map((widget) => filled('WIDGET', widget, () => filledWidget(widget)))
  const monitors = pack.monitors.map((monitor) => filled('MONITOR', monitor, () => filledMonitor(monitor)))
  return {
    name: titled(`${pack.name}: {dataset}`),
    description: titled(pack.description),
    widgets: widgets.flatMap(({ made }) => made ?? []),
    monitors: monitors.flatMap(({ made }) => made ?? []),
    leftOut: [...widgets, ...monitors].flatMap(({ leftOut }) => leftOut ?? []),
  }

  function filled<Declaration extends { name: string; queries: readonly PackQuery[] }, Made>(
    kind: LeftOutPart['kind'],
    declaration: Declaration,
    make: () => Made,
  ): { made?: Made; leftOut?: LeftOutPart } {
    const reason = missingIn(pack, declaration.queries, values)
    return reason === undefined ? { made: make() } : { leftOut: { kind, name: titled(declaration.name), reason } }
  }

  function filledWidget({ name, type, w, h, queries, formula }: WidgetDeclaration): FilledWidget {
    return { name: titled(name), type, w, h, queries: queries.map(filledQuery), formulas: formulasOf(formula) }
  }

  function filledMonitor(declaration: MonitorDeclaration): FilledMonitor {
    const { id, type = 'PATTERN', formula, threshold, withoutEvents = 'OK', queries, description, ...rest } = declaration
    const name = titled(declaration.name)
    const rule: ContentPackRule = {
      ...conditionOf(rest),
      name,
      description: titled(description),
      monitor_type: type,
      threshold: typeof threshold === 'number' ? threshold : Number(values.get(threshold)),
      queries: queries.map(filledQuery),
      ...(formula ? { formulas: formulasOf(formula) } : {}),
      no_data_status: withoutEvents,
    }
    return { id, name, rule }
  }

  function filledQuery({ name, select, where = '', groups, from }: PackQuery): MetricQuery {
    return {
      name,
      select: [withFields(select, values)],
      ...(from === 'every dataset' ? { from_expr: '*' } : { from: [dataset.id] }),
      where: withFields(where, values),
      ...(groups ? { groups: groups.map((group) => withFields(group, values)) } : {}),
    }
  }

  function titled(text: string): string {
    return text.replaceAll('{dataset}', `${dataset.collection} / ${dataset.dataset}`)
  }
}

const formulasOf = (formula: PackFormula | undefined): MetricFormula[] => (formula ? [{ ...formula }] : [])

const conditionOf = ({
  comparison_operator,
  window,
  aux,
  evaluation_window,
}: Pick<MonitorDeclaration, 'comparison_operator' | 'window' | 'aux' | 'evaluation_window'>) => ({
  comparison_operator,
  window,
  ...(aux ? { aux } : {}),
  ...(evaluation_window === undefined ? {} : { evaluation_window }),
})

const PLACEHOLDER = /\{(\w+)\}/g

type ParameterValues = ReadonlyMap<string, string | number | null>

const withFields = (text: string, values: ParameterValues): string =>
  text.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = values.get(name)
    return typeof value === 'string' ? printKey(value) : String(value)
  })

/** The reason why queries cannot be filled in; undefined when every field is known. */
function missingIn({ parameters }: ContentPack, queries: readonly PackQuery[], values: ParameterValues): string | undefined {
  const texts = queries.flatMap(({ select, where = '', groups = [] }) => [select, where, ...groups])
  const names = texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))
  const missing = [...new Set(names)].filter((name) => (values.get(name) ?? null) === null)
  const wanted = missing.flatMap((name) => parameters.flatMap((one) => (one.type === 'FIELD' && one.name === name ? [one.of] : [])))
  return wanted.length === 0 ? undefined : `no field holds ${wanted.join(' or ')}`
}
