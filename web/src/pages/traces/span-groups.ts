import type { Trace } from '@dendro/api'

/** The spans of a trace with the same service and name. */
export type SpanGroup = {
  readonly service: string
  readonly name: string
  readonly spans: number
  readonly errors: number
  /** The time in which none of their child spans ran. */
  readonly selfNano: number
  readonly criticalNano: number
  readonly longestNano: number
}

/** Adds up the spans of a trace by service and name, those with the longest time of their own first. */
export function spanGroups(spans: Trace['spans']): readonly SpanGroup[] {
  return [...Map.groupBy(spans, ({ service, name }) => JSON.stringify([service, name])).values()]
    .map((group): SpanGroup => {
      const sum = (of: (span: Trace['spans'][number]) => number) => group.reduce((total, span) => total + of(span), 0)
      return {
        service: group[0]?.service ?? '',
        name: group[0]?.name ?? '',
        spans: group.length,
        errors: group.filter(({ status }) => status === 'error').length,
        selfNano: sum(({ self_nano }) => self_nano),
        criticalNano: sum(({ critical_nano }) => critical_nano),
        longestNano: group.reduce((longest, { duration_nano }) => Math.max(longest, duration_nano), 0),
      }
    })
    .sort((one, other) => other.selfNano - one.selfNano)
}
