import { readDurations } from '@dendro/language/nanoseconds'
import { compileRegex } from '@dendro/language/regex'
import type { Filter, FilterOperator, Literal } from '@dendro/language/tree'
import { RE2JSException } from 're2js'
import { badRequest, type Failure } from '../../../kernel/errors.ts'
import { ALL_EVENTS } from '../../data/event-queries/event-queries.ts'
import { DURATION_KEY, isRoot, ofStatus, TRACE_ID_KEY, withLeadingZeros } from '../traces/traces.ts'

/** The conditions of a query on one span, and the attributes that it names, without scope. */
export type SpanQuery = { readonly filter: Filter; readonly attributes: readonly string[] }

const at = { position: 0, length: 0 }
const SPACE = /[ \t\r\n]*/y
const TOKEN =
  /(&&|\|\||=~|!~|!=|>=|<=|[{}()=<>!|,])|("(?:[^"\\]|\\.)*"|`[^`]*`)|(-?\d+(?:\.\d+)?(?:[a-zµ]+(?:\d+(?:\.\d+)?[a-zµ]+)*)?(?![\w.]))|((?:[A-Za-z_]\w*:)?\.?(?:[\w/*-]+|"(?:[^"\\]|\\.)*")(?:\.(?:[\w/*-]+|"(?:[^"\\]|\\.)*"))*)/y

type Token = { readonly kind: 'sign' | 'text' | 'number' | 'word' | 'end'; readonly text: string; readonly position: number }

/** Parses a query of one pair of braces, such as `{ resource.service.name = "pay" && duration > 1s } | select(span.http.url)`. */
export function parseTraceql(query: string): SpanQuery {
  const parser = new TraceqlParser(query)
  return query.trim() === '' ? { filter: ALL_EVENTS, attributes: [] } : parser.parse()
}

const NESTED_MAX = 100
const operators: ReadonlySet<string> = new Set(['=', '!=', '>', '>=', '<', '<=', '=~', '!~'])
const statuses = ['ok', 'error', 'unset'] as const
const kinds: ReadonlySet<string> = new Set(['internal', 'server', 'client', 'producer', 'consumer'])

class TraceqlParser {
  readonly #query: string
  readonly #attributes = new Set<string>()
  #next: Token
  #end = 0
  #depth = 0

  constructor(query: string) {
    this.#query = query
    this.#next = this.#read()
  }

  parse(): SpanQuery {
    this.#expect('{')
    const filter = this.#is('}') ? ALL_EVENTS : this.#any()
    this.#expect('}')
    while (this.#isSelect()) this.#select()
    if (this.#skipWord('with')) this.#hints()
    if (this.#next.kind !== 'end') {
      throw this.#error(
        'only conditions in one pair of braces and select(…) are supported: no other pipelines, and no relations between spans',
      )
    }
    return { filter, attributes: [...this.#attributes] }
  }

  #isSelect(): boolean {
    return this.#is('|') && /^\s*select\b/.test(this.#query.slice(this.#end))
  }

  /** Adds attributes to the spans that are shown. Fields of every span are there anyway. */
  #select(): void {
    this.#take()
    this.#take()
    this.#expect('(')
    do {
      const field = this.#next
      if (field.kind !== 'word') throw this.#error('expected a field, such as name or span.http.method')
      this.#take()
      const name = attributeIn(field.text)
      if (name !== undefined) this.#attributes.add(name)
    } while (this.#skip(','))
    this.#expect(')')
  }

  /** The newest traces are found first in any case. */
  #hints(): void {
    this.#expect('(')
    if (!this.#skipWord('most_recent')) throw this.#error('the only hint is most_recent=true')
    this.#expect('=')
    if (!this.#skipWord('true')) throw this.#error('the only hint is most_recent=true')
    this.#expect(')')
  }

  #any(): Filter {
    const of = [this.#all()]
    while (this.#skip('||')) of.push(this.#all())
    return of.length === 1 && of[0] ? of[0] : { kind: 'or', of }
  }

  #all(): Filter {
    const of = [this.#one()]
    while (this.#skip('&&')) of.push(this.#one())
    return of.length === 1 && of[0] ? of[0] : { kind: 'and', of }
  }

  #one(): Filter {
    this.#depth += 1
    if (this.#depth > NESTED_MAX) throw this.#error(`at most ${NESTED_MAX} conditions may be nested`)
    const filter = this.#nested()
    this.#depth -= 1
    return filter
  }

  #nested(): Filter {
    if (this.#skip('!')) return { kind: 'not', of: this.#one() }
    if (this.#skip('(')) {
      const inner = this.#any()
      this.#expect(')')
      return inner
    }
    if (this.#next.kind === 'word' && this.#next.text === 'true' && !this.#isCompared()) {
      this.#take()
      return ALL_EVENTS
    }
    return this.#comparison()
  }

  #comparison(): Filter {
    const field = this.#next
    if (field.kind !== 'word') throw this.#error('expected a field, such as name or span.http.method')
    this.#take()
    const operator = this.#next.text
    if (!operators.has(operator)) throw this.#error('expected one of = != > >= < <= =~ !~')
    this.#take()
    const value = this.#next
    if (value.kind === 'sign' || value.kind === 'end') throw this.#error('expected a value')
    this.#take()
    return this.#compare(field, operator, value)
  }

  #compare(field: Token, operator: string, value: Token): Filter {
    const name = field.text.replace(/^(?:span|trace):(?=\w)/, (scope) => (scope === 'trace:' ? 'trace:' : ''))
    switch (name) {
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
      default:
        return this.#attribute(field, operator, value)
    }
  }

  #attribute(field: Token, operator: string, value: Token): Filter {
    const name = attributeIn(field.text)
    if (name === undefined) {
      throw this.#error(
        'is not supported; fields are name, status, kind, duration, statusMessage, and attributes such as span.x, resource.x or .x',
        field,
      )
    }
    this.#attributes.add(name)
    const key = `$${name}`
    if (value.kind !== 'number') return this.#withText(key, operator, value)
    const literal: Literal = { kind: 'number', text: String(/[a-zµ]$/.test(value.text) ? this.#nanos(value) : value.text) }
    return { kind: 'compare', key, operator: this.#order(operator), value: literal, at }
  }

  #withText(key: string, operator: string, { text, kind, ...token }: Token): Filter {
    if (kind === 'word' && text === 'nil') {
      if (operator !== '=' && operator !== '!=') throw this.#error('nil is compared by = or != only', { text, kind, ...token })
      return { kind: 'exists', key, negated: operator === '=', at }
    }
    const isTruth = kind === 'word' && (text === 'true' || text === 'false')
    if (kind !== 'text' && !isTruth) throw this.#error('expected a text in quotes', { text, kind, ...token })
    if (operator === '=~' || operator === '!~') {
      const pattern = `^(?s:${text})$`
      this.#checkRegex(pattern, { text, kind, ...token })
      return { kind: 'regex', key, pattern, ignoreCase: false, negated: operator === '!~', at }
    }
    const value: Literal = isTruth ? { kind: 'boolean', text } : { kind: 'text', text }
    return { kind: 'compare', key, operator: this.#order(operator), value, at }
  }

  #checkRegex(pattern: string, token: Token): void {
    try {
      compileRegex({ pattern, ignoreCase: false })
    } catch (thrown) {
      if (!(thrown instanceof RE2JSException)) throw thrown
      throw this.#error(`invalid regular expression: ${thrown.message}`, token)
    }
  }

  #status(operator: string, { text, ...token }: Token): Filter {
    const isEqual = this.#equality(operator)
    const status = statuses.find((one) => one === text)
    if (status === undefined) throw this.#error('is no status; one is ok, error or unset', { text, ...token })
    return isEqual ? ofStatus(status) : { kind: 'not', of: ofStatus(status) }
  }

  #kind(operator: string, { text, ...token }: Token): Filter {
    const isEqual = this.#equality(operator)
    if (!kinds.has(text)) throw this.#error(`is no kind; one is ${[...kinds].join(', ')}`, { text, ...token })
    const value: Literal = { kind: 'text', text: `SPAN_KIND_${text.toUpperCase()}` }
    return { kind: 'compare', key: '$span.kind', operator: isEqual ? '=' : '!=', value, at }
  }

  #duration(operator: string, value: Token): Filter {
    return {
      kind: 'compare',
      key: DURATION_KEY,
      operator: this.#order(operator),
      value: { kind: 'number', text: String(this.#nanos(value)) },
      at,
    }
  }

  /** Spans without a parent have a negative number there; what else the number is depends on the program. */
  #root(operator: string, { text, ...token }: Token): Filter {
    if (text === '0' && operator === '<') return isRoot
    if (text === '0' && operator === '>=') return { kind: 'not', of: isRoot }
    throw this.#error('is supported as nestedSetParent < 0 only, for spans without a parent', { text, ...token })
  }

  #nanos(value: Token): number {
    const nanos = value.kind === 'number' ? readDurations(value.text) : undefined
    if (nanos === undefined) throw this.#error('is no length of time, such as 250ms', value)
    return nanos
  }

  #order(operator: string): FilterOperator {
    if (operator === '=~' || operator === '!~') throw this.#error('regular expressions are compared with texts only')
    return operator as FilterOperator
  }

  #equality(operator: string): boolean {
    if (operator !== '=' && operator !== '!=') throw this.#error('is compared by = or != only')
    return operator === '='
  }

  #isCompared(): boolean {
    const rest = this.#query.slice(this.#end).trimStart()
    return /^(?:[=<>]|!=|!~)/.test(rest)
  }

  #is = (sign: string): boolean => this.#next.kind === 'sign' && this.#next.text === sign

  #skip(sign: string): boolean {
    if (!this.#is(sign)) return false
    this.#take()
    return true
  }

  #skipWord(word: string): boolean {
    if (this.#next.kind !== 'word' || this.#next.text !== word) return false
    this.#take()
    return true
  }

  #expect(sign: string): void {
    if (!this.#skip(sign)) throw this.#error(`expected ${sign}`)
  }

  #take(): void {
    this.#next = this.#read()
  }

  #read(): Token {
    SPACE.lastIndex = this.#end
    SPACE.exec(this.#query)
    const position = SPACE.lastIndex
    if (position >= this.#query.length) return { kind: 'end', text: '', position }
    TOKEN.lastIndex = position
    const [whole = '', sign, text, number] = TOKEN.exec(this.#query) ?? []
    if (whole === '') throw badRequest(`q is not valid at character ${position + 1}: unexpected ${this.#query.charAt(position)}`)
    this.#end = position + whole.length
    if (sign) return { kind: 'sign', text: sign, position }
    if (text) return { kind: 'text', text: unquoted(text), position }
    return { kind: number ? 'number' : 'word', text: whole, position }
  }

  #error(message: string, { text, position }: Token = this.#next): Failure {
    return badRequest(`q is not valid at character ${position + 1}${text === '' ? '' : ` (${text})`}: ${message}`)
  }
}

/** Ids are stored in lower case and with all digits. */
const traceIdToken = (value: Token): Token =>
  value.kind === 'text' ? { ...value, text: withLeadingZeros(value.text.toLowerCase()) } : value

/** The name of an attribute without its scope and quotes. */
function attributeIn(field: string): string | undefined {
  const [, path] = /^(?:span|resource|)\.(.+)$/s.exec(field) ?? []
  return path?.replace(/"((?:[^"\\]|\\.)*)"/g, (_, inner: string) => inner.replace(/\\(.)/g, '$1'))
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
])

const unquoted = (quoted: string): string =>
  quoted.startsWith('`') ? quoted.slice(1, -1) : quoted.slice(1, -1).replace(/\\(.)/gs, (_, sign: string) => escapes.get(sign) ?? sign)
