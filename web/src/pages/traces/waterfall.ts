import type { Trace } from '@dendro/api'

type Span = Trace['spans'][number]

/** The positions of the spans that are not inside a collapsed one, in their order. */
export function shownRows(spans: readonly Pick<Span, 'descendants'>[], collapsed: ReadonlySet<number>): number[] {
  const rows: number[] = []
  for (let at = 0; at < spans.length; at += 1) {
    rows.push(at)
    if (collapsed.has(at)) at += spans[at]?.descendants ?? 0
  }
  return rows
}

/** The names of spans in the address: their ids, with a number where spans before have the same. Some senders give a client and its server one id. */
export function spanKeys(spans: readonly Pick<Span, 'span_id'>[]): string[] {
  const seen = new Map<string, number>()
  return spans.map(({ span_id }) => {
    const number = (seen.get(span_id) ?? 0) + 1
    seen.set(span_id, number)
    return number === 1 ? span_id : `${span_id}.${number}`
  })
}

/** True for a span that has the text in its name, service, id or attributes. */
export function matches(span: Pick<Span, 'name' | 'service' | 'span_id' | 'attributes'>, find: string): boolean {
  const wanted = find.toLowerCase()
  const texts = [span.name, span.service, span.span_id, ...Object.entries(span.attributes).flat()]
  return texts.some((text) => text.toLowerCase().includes(wanted))
}
