import { isObject } from '../../../kernel/json-object.ts'
import { type AttributePath, memberOf, readAttributePath, type ScimObject, valuesAt } from './attribute-path.ts'
import { ScimFailure } from './scim-failure.ts'

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
type Operator = (typeof operators)[number]
type Scalar = string | number | boolean | null

export type ScimFilter =
  | { readonly kind: 'and' | 'or'; readonly left: ScimFilter; readonly right: ScimFilter }
  | { readonly kind: 'not'; readonly of: ScimFilter }
  | { readonly kind: 'element'; readonly path: AttributePath; readonly of: ScimFilter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | { readonly kind: 'compare'; readonly path: AttributePath; readonly operator: Operator; readonly value: Scalar }

const LENGTH_MAX = 4_000
const DEPTH_MAX = 20
const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y

type Token = { readonly kind: 'mark' | 'text' | 'word'; readonly text: string }

function tokensOf(text: string): Token[] {
  if (text.length > LENGTH_MAX) throw invalid(`has at most ${LENGTH_MAX} characters`)
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let at = 0; text.slice(at).trim() !== ''; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const [, mark, quoted, word] = TOKEN.exec(text) ?? []
    if (mark !== undefined) tokens.push({ kind: 'mark', text: mark })
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else throw invalid(`cannot be read at character ${at + 1}`)
  }
  return tokens
}

/** Reads a filter of RFC 7644, section 3.4.2.2: `not` binds tightest, then `and`, then `or`. */
export function readFilter(text: string): ScimFilter {
  const reader = new FilterReader(tokensOf(text))
  const filter = reader.readOr(0)
  reader.expectEnd()
  return filter
}

class FilterReader {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  readOr(depth: number): ScimFilter {
    let left = this.#readAnd(depth)
    while (this.#skip('word', 'or')) left = { kind: 'or', left, right: this.#readAnd(depth) }
    return left
  }

  expectEnd(): void {
    const rest = this.#tokens[this.#at]
    if (rest) throw invalid(`has an unexpected ${rest.text.slice(0, 50)}`)
  }

  #readAnd(depth: number): ScimFilter {
    let left = this.#readOne(depth)
    while (this.#skip('word', 'and')) left = { kind: 'and', left, right: this.#readOne(depth) }
    return left
  }

  #readOne(depth: number): ScimFilter {
    if (depth > DEPTH_MAX) throw invalid(`nests deeper than ${DEPTH_MAX} levels`)
    if (this.#skip('word', 'not')) {
      if (!this.#skip('mark', '(')) throw invalid('needs parentheses after not')
      return { kind: 'not', of: this.#readGroup(depth) }
    }
    return this.#skip('mark', '(') ? this.#readGroup(depth) : this.#readComparison(depth)
  }

  #readGroup(depth: number): ScimFilter {
    const filter = this.readOr(depth + 1)
    if (!this.#skip('mark', ')')) throw invalid('has a parenthesis that is not closed')
    return filter
  }

  #readComparison(depth: number): ScimFilter {
    const path = pathOf(this.#take('an attribute'))
    if (this.#skip('mark', '[')) {
      const of = this.readOr(depth + 1)
      if (!this.#skip('mark', ']')) throw invalid('has a bracket that is not closed')
      return { kind: 'element', path, of }
    }
    const written = this.#take('an operator').text.toLowerCase()
    if (written === 'pr') return { kind: 'present', path }
    const operator = operators.find((known) => known === written)
    if (!operator) throw invalid(`has the unknown operator ${written.slice(0, 50)}`)
    return { kind: 'compare', path, operator, value: scalarOf(this.#take('a value')) }
  }

  #take(expected: string): Token {
    const token = this.#tokens[this.#at]
    if (!token || token.kind === 'mark') throw invalid(`needs ${expected}${token ? `, not ${token.text}` : ' at its end'}`)
    this.#at += 1
    return token
  }

  #skip(kind: Token['kind'], text: string): boolean {
    const token = this.#tokens[this.#at]
    const isNext = token?.kind === kind && token.text.toLowerCase() === text
    if (isNext) this.#at += 1
    return isNext
  }
}

function pathOf({ kind, text }: Token): AttributePath {
  const path = kind === 'word' ? readAttributePath(text) : undefined
  if (!path) throw invalid(`names no attribute: ${text.slice(0, 100)}`)
  return path
}

function scalarOf({ text }: Token): Scalar {
  try {
    const value: unknown = JSON.parse(/^(?:true|false|null)$/i.test(text) ? text.toLowerCase() : text)
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
  }
  throw invalid(`has a value that is not JSON: ${text.slice(0, 100)}`)
}

export const invalid = (rule: string): ScimFailure => new ScimFailure('invalidFilter', `the filter ${rule}`)

export function matches(filter: ScimFilter, resource: ScimObject): boolean {
  switch (filter.kind) {
    case 'and':
      return matches(filter.left, resource) && matches(filter.right, resource)
    case 'or':
      return matches(filter.left, resource) || matches(filter.right, resource)
    case 'not':
      return !matches(filter.of, resource)
    case 'element':
      return valuesAt(resource, filter.path).some((element) => isObject(element) && matches(filter.of, element))
    case 'present':
      return scalarsAt(resource, filter.path).some((value) => value !== '')
    case 'compare':
      return compares(filter, scalarsAt(resource, filter.path))
  }
}

/** The value of an element of a list, such as an e-mail address, stands for the element. */
const scalarsAt = (resource: ScimObject, path: AttributePath): unknown[] =>
  valuesAt(resource, path).flatMap((value) => {
    if (!isObject(value)) return [value]
    const own = memberOf(value, 'value')
    return own === undefined ? Object.values(value) : [own]
  })

const EXACT = ['id', 'externalid']

function compares({ path, operator, value }: Extract<ScimFilter, { kind: 'compare' }>, found: readonly unknown[]): boolean {
  if (value === null) return operator === 'eq' ? found.length === 0 : operator === 'ne' && found.length > 0
  if (operator === 'ne') return !compares({ kind: 'compare', path, operator: 'eq', value }, found)
  const isExact = EXACT.includes(path.at(-1)?.toLowerCase() ?? '')
  return found.some((one) => holds(operator, comparable(one, isExact), comparable(value, isExact)))
}

/** Booleans compare as texts, because some providers quote them. */
function comparable(value: unknown, isExact: boolean): string | number {
  if (typeof value === 'number') return value
  return isExact ? String(value) : String(value).toLowerCase()
}

function holds(operator: Exclude<Operator, 'ne'>, one: string | number, other: string | number): boolean {
  switch (operator) {
    case 'eq':
      return one === other
    case 'co':
      return String(one).includes(String(other))
    case 'sw':
      return String(one).startsWith(String(other))
    case 'ew':
      return String(one).endsWith(String(other))
    case 'gt':
      return typeof one === typeof other && one > other
    case 'ge':
      return typeof one === typeof other && one >= other
    case 'lt':
      return typeof one === typeof other && one < other
    case 'le':
      return typeof one === typeof other && one <= other
  }
}

/** The text that a filter requires an attribute to equal, for a lookup by index. */
export function requiredText(filter: ScimFilter | undefined, name: string): string | undefined {
  if (filter?.kind === 'and') return requiredText(filter.left, name) ?? requiredText(filter.right, name)
  if (filter?.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return undefined
  return filter.path.length === 1 && filter.path[0]?.toLowerCase() === name.toLowerCase() ? filter.value : undefined
}
