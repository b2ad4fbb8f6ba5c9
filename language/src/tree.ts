/** A position in the text, in UTF-16 units. */
export type TextSpan = { readonly position: number; readonly length: number }

/** The right side of a condition. A number keeps its digits as written, because beyond 2^53 only they are exact. */
export type Literal =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: 'true' | 'false' }

/** The parsed `where`. It is two-valued: a missing key makes every condition on it false, and `not` is a true complement. */
export type Filter =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | Condition

export type FilterOperator = '=' | '!=' | '<' | '<=' | '>' | '>='

/**
 * A condition on one key, without quotes; built-ins begin with @, attributes with $.
 * - Negated conditions (`!=`, NOT IN, NOT LIKE, !~ …) still require that the key exists; only a negated `exists` does not.
 * - In a `like` pattern the only escape is the backslash before `%`, `_` and itself; the parser rewrites all others.
 * - `contains` is free text: the raw line contains the text, ignoring case.
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

/** An aggregate function over the events of a group or a slice. */
export type AggregateCall =
  | { readonly name: 'count' | 'rate'; readonly key?: undefined }
  | { readonly name: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'unique' | 'stddev' | 'variance' | 'first' | 'last'; readonly key: string }
  // Exact where the values are few enough to be sorted, otherwise an estimate.
  | { readonly name: 'percentile'; readonly key: string; readonly percent: number; readonly isExact?: boolean }
  // The bytes of the lines. The language has no function for it; other query languages do.
  | { readonly name: 'bytes'; readonly key: '@raw' }

/** One item of a `select`. `name` is the name of its result: the text as sent, or the name after AS. */
export type SelectItem =
  | { readonly kind: 'everything'; readonly name: string }
  | { readonly kind: 'key'; readonly key: string; readonly name: string }
  | { readonly kind: 'call'; readonly call: AggregateCall; readonly name: string }

/** The parsed `order_by`. */
export type SortOrder = { readonly key: string; readonly descending: boolean }
