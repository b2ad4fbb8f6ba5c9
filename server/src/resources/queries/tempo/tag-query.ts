import type { Filter } from '@dendro/language/tree'
import { ALL_EVENTS, and } from '../../data/event-queries/event-queries.ts'
import { parseTraceql, type SpanQuery } from './traceql.ts'

const PAIR = /([^\s=]+)=("(?:[^"\\]|\\.)*"|\S*)/g
const intrinsics: ReadonlySet<string> = new Set(['name', 'status', 'kind', 'duration'])
const WORDS: ReadonlySet<string> = new Set(['status', 'kind'])

/** The older form of a search: pairs such as `service.name=pay name="GET /"`. A span must have all of them. */
export function queryOfTags(tags: string): SpanQuery {
  const parsed = [...tags.matchAll(PAIR)].map(([, name = '', value = '']) =>
    parseTraceql(`{ ${fieldOf(name)} = ${literalOf(name, value)} }`),
  )
  return {
    filter: parsed.map(({ filter }): Filter => filter).reduce(and, ALL_EVENTS),
    attributes: parsed.flatMap(({ attributes }) => attributes),
  }
}

const fieldOf = (name: string): string => (intrinsics.has(name) ? name : `.${JSON.stringify(name)}`)
const literalOf = (name: string, value: string): string => (WORDS.has(name) || value.startsWith('"') ? value : JSON.stringify(value))
