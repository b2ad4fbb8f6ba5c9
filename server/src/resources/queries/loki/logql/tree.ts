import type { TextSpan } from '@dendro/language/tree'

/** The syntax tree of LogQL. Every node knows its place in the text, so that a refusal can name it. */
export type LogqlExpression = LogqlLogs | LogqlMetric

export type LogqlMetric = LogqlRange | LogqlAggregation | LogqlBinary | LogqlNumber | LogqlVector

/** A stream selector with the stages of its pipeline. */
export type LogqlLogs = {
  readonly kind: 'logs'
  readonly matchers: readonly LabelMatcher[]
  readonly stages: readonly LogqlStage[]
  readonly at: TextSpan
}

export type LabelMatcher = {
  readonly name: string
  readonly operator: '=' | '!=' | '=~' | '!~'
  readonly value: string
  readonly at: TextSpan
}

/** A stage of a pipeline. `unwrap` occurs only within a range. */
export type LogqlStage =
  | LineFilter
  | { readonly kind: 'json' | 'unpack'; readonly fields: readonly FieldPath[]; readonly at: TextSpan }
  | {
      readonly kind: 'logfmt'
      readonly fields: readonly FieldPath[]
      readonly isStrict: boolean
      readonly keepsEmpty: boolean
      readonly at: TextSpan
    }
  | { readonly kind: 'regexp'; readonly pattern: string; readonly at: TextSpan }
  | { readonly kind: 'pattern'; readonly pieces: readonly PatternPiece[]; readonly at: TextSpan }
  | { readonly kind: 'labels'; readonly condition: LabelCondition; readonly at: TextSpan }
  | { readonly kind: 'line_format'; readonly template: LineTemplate; readonly at: TextSpan }
  | { readonly kind: 'label_format'; readonly formats: readonly LabelFormat[]; readonly at: TextSpan }
  | { readonly kind: 'drop' | 'keep'; readonly labels: readonly ChosenLabel[]; readonly at: TextSpan }
  | { readonly kind: 'decolorize'; readonly at: TextSpan }
  | { readonly kind: 'unwrap'; readonly name: string; readonly unit: UnwrapUnit; readonly at: TextSpan }

export type UnwrapUnit = 'number' | 'duration' | 'bytes'

/** `texts` are alternatives. */
export type LineFilter = {
  readonly kind: 'line'
  readonly operator: '|=' | '!=' | '|~' | '!~' | '|>' | '!>'
  readonly texts: readonly string[]
  readonly at: TextSpan
}

/** A label and the place of its value in a line. */
export type FieldPath = { readonly label: string; readonly path: readonly (string | number)[] }

/** Literal text, or a capture; a capture without a name is dropped. */
export type PatternPiece = { readonly literal: string } | { readonly capture: string | undefined }

export type LabelCondition =
  | { readonly kind: 'and' | 'or'; readonly of: readonly LabelCondition[] }
  | { readonly kind: 'match'; readonly matcher: LabelMatcher }
  | LabelComparison

/** `text` is the number as it was written. Durations are compared in nanoseconds, sizes in bytes. */
export type LabelComparison = {
  readonly kind: 'compare'
  readonly name: string
  readonly operator: '>' | '>=' | '<' | '<=' | '==' | '!='
  readonly unit: UnwrapUnit
  readonly value: number
  readonly text: string
  readonly at: TextSpan
}

/** A label, or the line itself. */
export type TemplateValue = { readonly label: string } | { readonly line: true }
/** Literal text, a value, or whether a value contains a text. */
export type TemplatePart = { readonly text: string } | TemplateValue | { readonly contains: string; readonly of: TemplateValue }
export type LineTemplate = readonly TemplatePart[]

/** Renames a label, or sets one from a template. */
export type LabelFormat = { readonly name: string; readonly from: string } | { readonly name: string; readonly template: LineTemplate }

export type ChosenLabel = { readonly name: string; readonly matcher: LabelMatcher | undefined }

export type LogqlRange = {
  readonly kind: 'range'
  readonly name: RangeFunction
  /** The quantile of `quantile_over_time`. */
  readonly parameter: number | undefined
  readonly logs: LogqlLogs
  readonly rangeMs: number
  readonly offsetMs: number
  readonly grouping: LogqlGrouping | undefined
  readonly at: TextSpan
}

export const rangeFunctions = [
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
  'avg_over_time',
  'min_over_time',
  'max_over_time',
  'stddev_over_time',
  'stdvar_over_time',
  'quantile_over_time',
  'first_over_time',
  'last_over_time',
] as const
export type RangeFunction = (typeof rangeFunctions)[number]

export const vectorFunctions = ['sum', 'avg', 'min', 'max', 'count', 'stddev', 'stdvar', 'topk', 'bottomk', 'sort', 'sort_desc'] as const
export type VectorFunction = (typeof vectorFunctions)[number]

export type LogqlGrouping = { readonly isWithout: boolean; readonly names: readonly string[] }

export type LogqlAggregation = {
  readonly kind: 'aggregation'
  readonly name: VectorFunction
  /** The number of series of `topk` and `bottomk`. */
  readonly parameter: number | undefined
  readonly grouping: LogqlGrouping | undefined
  readonly of: LogqlMetric
  readonly at: TextSpan
}

export type BinaryOperator = 'or' | 'and' | 'unless' | '==' | '!=' | '>' | '>=' | '<' | '<=' | '+' | '-' | '*' | '/' | '%' | '^'

export type LogqlBinary = {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly isBool: boolean
  /** The labels that two series must share; all of them when absent. */
  readonly matching: { readonly isIgnoring: boolean; readonly names: readonly string[] } | undefined
  readonly left: LogqlMetric
  readonly right: LogqlMetric
  readonly at: TextSpan
}

export type LogqlNumber = { readonly kind: 'number'; readonly value: number; readonly at: TextSpan }
/** A vector of one series without labels. */
export type LogqlVector = { readonly kind: 'vector'; readonly value: number; readonly at: TextSpan }
