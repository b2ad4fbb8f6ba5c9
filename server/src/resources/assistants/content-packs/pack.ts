import type { ContentPackRule, Widget } from '@dendro/api'

/** What the values of a field must look like. Any value is a text. */
export type FieldValueKind = 'text' | 'number' | 'http-status' | 'http-method' | 'level'

/** A field by its usual name. Case, separators and leading parts of a nested name do not matter. */
export type FieldName = string | { readonly name: string; readonly unit: 'ms' | 's' | 'µs' | 'ns' | 'bytes' }

/** `of` completes the sentence "no field holds …". */
export type FieldParameter = {
  readonly type: 'FIELD'
  readonly name: string
  readonly label: string
  readonly of: string
  readonly holds: FieldValueKind
  /** The best first. */
  readonly usualNames: readonly FieldName[]
}

/** With `field`, the default is a multiple of the 95th percentile of that field in the sample, in its unit. */
export type NumberParameter = {
  readonly type: 'NUMBER'
  readonly name: string
  readonly label: string
  readonly default: number
  readonly field?: { readonly name: string; readonly times: number }
  readonly unit?: string
}

export type PackParameter = FieldParameter | NumberParameter

/**
 * Texts of queries name fields as `{status}` and numbers as `{errors}`. A query of which a field is missing is left out with its widget or
 * monitor. Names and descriptions may contain `{dataset}`.
 */
export type PackQuery = {
  readonly name: string
  readonly select: string
  readonly where?: string
  readonly groups?: readonly string[]
  /** The dataset of the pack by default. */
  readonly from?: 'every dataset'
}

export type PackFormula = { readonly name: string; readonly expression: string }

/** `w` and `h` count columns, of twelve, and rows of the grid. */
export type WidgetDeclaration = {
  readonly name: string
  readonly type: Widget['type']
  readonly w: number
  readonly h: number
  readonly queries: readonly PackQuery[]
  readonly formula?: PackFormula
}

/** The threshold is a number or the name of a parameter. A monitor is OK without events unless it says otherwise. */
export type MonitorDeclaration = Pick<ContentPackRule, 'comparison_operator' | 'window' | 'description' | 'aux' | 'evaluation_window'> & {
  readonly id: string
  readonly name: string
  readonly type?: ContentPackRule['monitor_type']
  readonly queries: readonly PackQuery[]
  readonly formula?: PackFormula
  readonly threshold: number | string
  readonly withoutEvents?: 'ALERT'
}

/** A ready-made dashboard and monitors for one format of events. */
export type ContentPack = {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Datasets are recognized when every field of one of these lists is found; a system dataset by its collection. */
  readonly recognizedBy: { readonly fields: readonly (readonly string[])[] } | { readonly collection: string }
  /** Packs that describe such events better: where one of them is recognized, this one is not offered. */
  readonly unless?: readonly string[]
  readonly parameters: readonly PackParameter[]
  readonly widgets: readonly WidgetDeclaration[]
  readonly monitors: readonly MonitorDeclaration[]
}
