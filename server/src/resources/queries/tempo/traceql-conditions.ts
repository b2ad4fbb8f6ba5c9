import { readDurations } from '@dendro/language/nanoseconds'
import { compileRegex } from '@dendro/language/regex'
import type { Filter, FilterOperator, Literal } from '@dendro/language/tree'
import { RE2JSException } from 're2js'
import { ALL_EVENTS, and } from '../../data/event-queries/event-queries.ts'
import { DURATION_KEY, isRoot, ofStatus, TRACE_ID_KEY, type WholeTrace, withLeadingZeros } from '../traces/traces.ts'
import type { TraceqlToken, TraceqlTokens } from './traceql-tokens.ts'

const at = { position: 0, length: 0 }
const NESTED_MAX = 100
const operators: ReadonlySet<string> = new Set(['=', '!=', '>', '>=', '<', '<=', '=~', '!~'])
const statuses = ['ok', 'error', 'unset'] as const
const kinds: ReadonlySet<string> = new Set(['internal', 'server', 'client', 'producer', 'consumer'])

/** Parses conditions on one span, and collects the attributes that they name, without scope, and the conditions on its trace. */
export class ConditionParser {
  readonly attributes = new Set<string>()
  readonly #roots: Filter[] = []
  readonly #durations: WholeTrace['durations'][number][] = []
  readonly #tokens: TraceqlTokens
  #depth = 0

  constructor(tokens: TraceqlTokens) {
    this.#tokens = tokens
  }

  /** Parses a pair of braces with conditions. */
  parse(): Filter {
    this.#tokens.expect('{')
    const filter = this.#tokens.is('}') ? ALL_EVENTS : this.#any()
    this.#tokens.expect('}')
    return filter
  }

  /** The conditions on the whole trace. */
  get whole(): WholeTrace {
    return { spans: this.#roots.map((filter) => ({ filter, operator: '>', number: 0 })), durations: this.#durations }
  }

  #any(): Filter {
    const before = this.#ofTraces
    const of = [this.#all()]
    while (this.#tokens.skip('||')) of.push(this.#all())
    if (of.length > 1) this.#refuseOfTraces(before)
    return of.length === 1 && of[0] ? of[0] : { kind: 'or', of }
  }

  /** How many conditions on traces there are so far. */
  get #ofTraces(): number {
    return this.#roots.length + this.#durations.length
  }

  #refuseOfTraces(before: number): void {
    if (this.#ofTraces > before)
      throw this.#tokens.error('conditions on the root or the duration of a trace are joined to others by && only')
  }

  #all(): Filter {
    const of = [this.#one()]
    while (this.#tokens.skip('&&')) of.push(this.#one())
    return of.length === 1 && of[0] ? of[0] : { kind: 'and', of }
  }

  #one(): Filter {
    this.#depth += 1
    if (this.#depth > NESTED_MAX) throw this.#tokens.error(`at most ${NESTED_MAX} conditions may be nested`)
    const filter = this.#nested()
    this.#depth -= 1
    return filter
  }

  #nested(): Filter {
    if (this.#tokens.skip('!')) {
      const before = this.#ofTraces
      const of = this.#one()
      this.#refuseOfTraces(before)
      return { kind: 'not', of }
    }
    if (this.#tokens.skip('(')) {
      const inner = this.#any()
      this.#tokens.expect(')')
      return inner
    }
    if (this.#tokens.isWord('true') && !/^(?:[=<>]|!=|!~)/.test(this.#tokens.rest)) {
      this.#tokens.take()
      return ALL_EVENTS
    }
    return this.#comparison()
  }

  #comparison(): Filter {
    const field = this.#tokens.next
    if (field.kind !== 'word') throw this.#tokens.error('expected a field, such as name or span.http.method')
    this.#tokens.take()
    const operator = this.#tokens.next.text
    if (!operators.has(operator)) throw this.#tokens.error('expected one of = != > >= < <= =~ !~')
    this.#tokens.take()
    const value = this.#tokens.next
    if (value.kind === 'sign' || value.kind === 'end') throw this.#tokens.error('expected a value')
    this.#tokens.take()
    return this.#compare(field, operator, value)
  }

  #compare(field: TraceqlToken, operator: string, value: TraceqlToken): Filter {
    switch (fieldName(field.text)) {
      case 'name':
        return this.#withText('$span.name', operator, value)
      case 'statusMessage':
        return this.#withText('$span.status_message', operator, value)
      case 'id':
        return this.#withText('$span.span_id', operator, value)
      case 'parentID':
        return this.#withText('$span.parent_span_id', operator, value)
      case 'trace:id':
        return this.#withText(TRACE_ID_KEY, operator, operator === '=' || operator === '!=' ? traceIdToken(value) : value)
      case 'status':
        return this.#status(operator, value)
      case 'kind':
        return this.#kind(operator, value)
      case 'duration':
        return this.#duration(operator, value)
      case 'nestedSetParent':
        return this.#root(operator, value)
      case 'traceDuration':
      case 'trace:duration':
        this.#durations.push({ operator: this.#order(operator), number: this.#nanos(value) })
        return ALL_EVENTS
      default:
        return this.#attribute(field, operator, value)
    }
  }

  #attribute(field: TraceqlToken, operator: string, value: TraceqlToken): Filter {
    const rootKey = rootKeys.get(field.text)
    if (rootKey !== undefined) return this.#ofRoot(rootKey, operator, value)
    const name = attributeIn(field.text)
    if (name === undefined) {
      throw this.#tokens.error(
        'is not supported; fields are name, status, kind, duration, statusMessage, rootName, rootServiceName, traceDuration, and attributes such as span.x, resource.x or .x',
        field,
      )
    }
    this.attributes.add(name)
    const key = `$${name}`
    if (value.kind !== 'number') return this.#withText(key, operator, value)
    const literal: Literal = { kind: 'number', text: String(/[a-zµ]$/.test(value.text) ? this.#nanos(value) : value.text) }
    return { kind: 'compare', key, operator: this.#order(operator), value: literal, at }
  }

  #withText(key: string, operator: string, { text, kind, ...token }: TraceqlToken): Filter {
    if (kind === 'word' && text === 'nil') {
      if (operator !== '=' && operator !== '!=') throw this.#tokens.error('nil is compared by = or != only', { text, kind, ...token })
      return { kind: 'exists', key, negated: operator === '=', at }
    }
    const isTruth = kind === 'word' && (text === 'true' || text === 'false')
    if (kind !== 'text' && !isTruth) throw this.#tokens.error('expected a text in quotes', { text, kind, ...token })
    if (operator === '=~' || operator === '!~') {
      const pattern = `^(?s:${text})$`
      this.#checkRegex(pattern, { text, kind, ...token })
      return { kind: 'regex', key, pattern, ignoreCase: false, negated: operator === '!~', at }
    }
    const value: Literal = isTruth ? { kind: 'boolean', text } : { kind: 'text', text }
    return { kind: 'compare', key, operator: this.#order(operator), value, at }
  }

  #checkRegex(pattern: string, token: TraceqlToken): void {
    try {
      compileRegex({ pattern, ignoreCase: false })
    } catch (thrown) {
      if (!(thrown instanceof RE2JSException)) throw thrown
      throw this.#tokens.error(`invalid regular expression: ${thrown.message}`, token)
    }
  }

  #status(operator: string, { text, ...token }: TraceqlToken): Filter {
    const isEqual = this.#equality(operator)
    const status = statuses.find((one) => one === text)
    if (status === undefined) throw this.#tokens.error('is no status; one is ok, error or unset', { text, ...token })
    return isEqual ? ofStatus(status) : { kind: 'not', of: ofStatus(status) }
  }

  #kind(operator: string, { text, ...token }: TraceqlToken): Filter {
    const isEqual = this.#equality(operator)
    if (!kinds.has(text)) throw this.#tokens.error(`is no kind; one is ${[...kinds].join(', ')}`, { text, ...token })
    const value: Literal = { kind: 'text', text: `SPAN_KIND_${text.toUpperCase()}` }
    return { kind: 'compare', key: '$span.kind', operator: isEqual ? '=' : '!=', value, at }
  }

  #duration(operator: string, value: TraceqlToken): Filter {
    return {
      kind: 'compare',
      key: DURATION_KEY,
      operator: this.#order(operator),
      value: { kind: 'number', text: String(this.#nanos(value)) },
      at,
    }
  }

  /** Spans without a parent have a negative number there; what else the number is depends on the program. */
  #root(operator: string, { text, ...token }: TraceqlToken): Filter {
    if (text === '0' && operator === '<') return isRoot
    if (text === '0' && operator === '>=') return { kind: 'not', of: isRoot }
    throw this.#tokens.error('is supported as nestedSetParent < 0 only, for spans without a parent', { text, ...token })
  }

  #ofRoot(key: string, operator: string, value: TraceqlToken): Filter {
    this.#roots.push(and(isRoot, this.#withText(key, operator, value)))
    return ALL_EVENTS
  }

  #nanos(value: TraceqlToken): number {
    const nanos = value.kind === 'number' ? readDurations(value.text) : undefined
    if (nanos === undefined) throw this.#tokens.error('is no length of time, such as 250ms', value)
    return nanos
  }

  #order(operator: string): FilterOperator {
    if (operator === '=~' || operator === '!~') throw this.#tokens.error('regular expressions are compared with texts only')
    return operator as FilterOperator
  }

  #equality(operator: string): boolean {
    if (operator !== '=' && operator !== '!=') throw this.#tokens.error('is compared by = or != only')
    return operator === '='
  }
}

/** Ids are stored in lower case and with all digits. */
const traceIdToken = (value: TraceqlToken): TraceqlToken =>
  value.kind === 'text' ? { ...value, text: withLeadingZeros(value.text.toLowerCase()) } : value

/** The keys of fields with values of their own. */
export const fieldKeys: ReadonlyMap<string, string> = new Map([
  ['name', '$span.name'],
  ['status', '$span.status_code'],
  ['statusMessage', '$span.status_message'],
  ['kind', '$span.kind'],
])

/** The keys of fields of traces, in their root. */
export const rootKeys: ReadonlyMap<string, string> = new Map([
  ['rootName', '$span.name'],
  ['trace:rootName', '$span.name'],
  ['rootServiceName', '$service.name'],
  ['trace:rootService', '$service.name'],
])

/** The name of a field, which may have the scope of spans in front. */
export const fieldName = (field: string): string => field.replace(/^span:(?=\w)/, '')

/** The name of an attribute without its scope and quotes. */
export function attributeIn(field: string): string | undefined {
  const [, path] = /^(?:span|resource|)\.(.+)$/s.exec(field) ?? []
  return path?.replace(/"((?:[^"\\]|\\.)*)"/g, (_, inner: string) => inner.replace(/\\(.)/g, '$1'))
}
