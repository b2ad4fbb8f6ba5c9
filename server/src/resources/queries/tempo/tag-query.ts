import type { Filter } from '@dendro/language/tree'
import { badField, Failure } from '../../../kernel/errors.ts'
import { ALL_EVENTS, and } from '../../data/event-queries/event-queries.ts'
import { parseTraceql, type SpanQuery } from './traceql.ts'

const PAIR = /([^\s=]+)=("(?:[^"\\]|\\.)*"|(?!")\S*)(?!\S)/g
const intrinsics: ReadonlySet<string> = new Set(['name', 'status', 'kind', 'duration'])
const WORDS: ReadonlySet<string> = new Set(['status', 'kind', 'duration'])

/** The older form of a search: pairs such as `service.name=pay name="GET /"`. A span must have all of them. */
export function queryOfTags(tags: string): SpanQuery {
  if (tags.replace(PAIR, '').trim() !== '') throw badField('tags', 'must be pairs with blanks between them, such as service.name=pay')
  const parsed = [...tags.matchAll(PAIR)].map(([pair, name = '', value = '']) => {
    try {
      return parseTraceql(`{ ${fieldOf(name)} = ${literalOf(name, value)} }`)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      throw badField('tags', `has a pair that is not valid: ${pair}`)
    }
  })
  return {
    filter: parsed.map(({ filter }): Filter => filter).reduce(and, ALL_EVENTS),
    attributes: parsed.flatMap(({ attributes }) => attributes),
  }
}

const fieldOf = (name: string): string => (intrinsics.has(name) ? name : `.${JSON.stringify(name)}`)
const literalOf = (name: string, value: string): string => (WORDS.has(name) || value.startsWith('"') ? value : JSON.stringify(value))
