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

/** True for a span that has the text in its name, service, id or attributes. */
export function matches(span: Pick<Span, 'name' | 'service' | 'span_id' | 'attributes'>, find: string): boolean {
  const wanted = find.toLowerCase()
  const texts = [span.name, span.service, span.span_id, ...Object.entries(span.attributes).flat()]
  return texts.some((text) => text.toLowerCase().includes(wanted))
}
