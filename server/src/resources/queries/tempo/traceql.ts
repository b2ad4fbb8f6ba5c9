import type { Filter } from '@dendro/language/tree'
import { ALL_EVENTS } from '../../data/event-queries/event-queries.ts'
import { attributeIn, ConditionParser } from './traceql-conditions.ts'
import { TraceqlTokens } from './traceql-tokens.ts'

/** The conditions of a query on one span, and the attributes that it names, without scope. */
export type SpanQuery = { readonly filter: Filter; readonly attributes: readonly string[] }

/** Parses a query of one pair of braces, such as `{ resource.service.name = "pay" && duration > 1s } | select(span.http.url)`. */
export function parseTraceql(query: string): SpanQuery {
  if (query.trim() === '') return { filter: ALL_EVENTS, attributes: [] }
  const tokens = new TraceqlTokens(query)
  const conditions = new ConditionParser(tokens)
  const filter = conditions.parse()
  while (tokens.is('|') && /^select\b/.test(tokens.rest)) select(tokens, conditions.attributes)
  if (tokens.skipWord('with')) skipHints(tokens)
  if (tokens.next.kind !== 'end') {
    throw tokens.error(
      'only conditions in one pair of braces and select(…) are supported: no other pipelines, and no relations between spans',
    )
  }
  return { filter, attributes: [...conditions.attributes] }
}

/** Adds attributes to the spans that are shown. Fields of every span are there anyway. */
function select(tokens: TraceqlTokens, attributes: Set<string>): void {
  tokens.take()
  tokens.take()
  tokens.expect('(')
  do {
    const field = tokens.next
    if (field.kind !== 'word') throw tokens.error('expected a field, such as name or span.http.method')
    tokens.take()
    const name = attributeIn(field.text)
    if (name !== undefined) attributes.add(name)
  } while (tokens.skip(','))
  tokens.expect(')')
}

/** The newest traces are found first in any case. */
function skipHints(tokens: TraceqlTokens): void {
  tokens.expect('(')
  if (!tokens.skipWord('most_recent')) throw tokens.error('the only hint is most_recent=true')
  tokens.expect('=')
  if (!tokens.skipWord('true')) throw tokens.error('the only hint is most_recent=true')
  tokens.expect(')')
}
