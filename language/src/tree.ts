/** A Span is where something stands in its text, in UTF-16 units. */
export type TextSpan = { readonly position: number; readonly length: number }

/** A Literal is the right side of a condition. A number keeps the digits as written: beyond 2^53 only they count. */
export type Literal =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: 'true' | 'false' }

/** A Filter is what a `where` says. It is two-valued: a missing key makes every condition on it false, and `not` is a true complement. */
export type Filter =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | Condition

export type FilterOperator = '=' | '!=' | '<' | '<=' | '>' | '>='

/**
 * A Condition looks at one key, named without quotes; built-ins begin with @, attributes with $.
 * - `negated` conditions (`!=`, NOT IN, NOT LIKE, !~ …) still require the key to be there; only `exists` turned round holds without it.
 * - A `like` pattern knows one escape, the backslash; it stands before `%`, `_` and itself only, since the parser has rewritten all others.
 * - `contains` is free text: the raw line holds the text, ignoring case.
 */
export type Condition =
  | { readonly kind: 'compare'; readonly key: string; readonly operator: FilterOperator; readonly value: Literal; readonly at: TextSpan }
  | { readonly kind: 'in'; readonly key: string; readonly values: readonly Literal[]; readonly negated: boolean; readonly at: TextSpan }
  | {
      readonly kind: 'between'
      readonly key: string
      readonly low: Literal
      readonly high: Literal
      readonly negated: boolean
      readonly at: TextSpan
    }
  | {
      readonly kind: 'like'
      readonly key: string
      readonly pattern: string
      readonly ignoreCase: boolean
      readonly negated: boolean
      readonly at: TextSpan
    }
  | {
      readonly kind: 'regex'
      readonly key: string
      readonly pattern: string
      readonly ignoreCase: boolean
      readonly negated: boolean
      readonly at: TextSpan
    }
  | { readonly kind: 'exists'; readonly key: string; readonly negated: boolean; readonly at: TextSpan }
  | { readonly kind: 'contains'; readonly text: string; readonly at: TextSpan }

/** A Call is a function over the events of a group or a slice; `percent` is of a percentile only. */
export type AggregateCall =
  | { readonly name: 'count' | 'rate'; readonly key?: undefined }
  | { readonly name: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'unique' | 'stddev' | 'variance' | 'first' | 'last'; readonly key: string }
  | { readonly name: 'percentile'; readonly key: string; readonly percent: number }

/** A SelectItem is one item of a `select`; `name` is its result's name: the text as sent, or what AS says. */
export type SelectItem =
  | { readonly kind: 'everything'; readonly name: string }
  | { readonly kind: 'key'; readonly key: string; readonly name: string }
  | { readonly kind: 'call'; readonly call: AggregateCall; readonly name: string }

/** An Order is what an `order_by` says. */
export type SortOrder = { readonly key: string; readonly descending: boolean }
