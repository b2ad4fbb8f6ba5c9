import { Failure, type FieldProblem } from '../kernel/errors.ts'
import { type CharSet, type CodePointRange, caseless, charSet, charsOf, inverted } from './char-set.ts'

/** An expression that can be matched in linear time: no back-references, and look-around of single characters only. Only named groups capture. */
export type RegexTree =
  | { kind: 'char'; set: CharSet }
  | { kind: 'sequence'; items: readonly RegexTree[] }
  | { kind: 'choice'; items: readonly RegexTree[] }
  | { kind: 'repeat'; item: RegexTree; min: number; max: number; isLazy: boolean }
  | { kind: 'field'; item: RegexTree; name: string }
  | { kind: 'edge'; edge: RegexAnchor }
  | { kind: 'neighbour'; set: CharSet; side: 'before' | 'behind'; isAbsent: boolean }

export type RegexAnchor = 'start' | 'end' | 'word' | 'no-word'

/** Resolves a `%{…}` reference. */
export type ReferenceResolver = (written: { text: string; position: number; flags: RegexFlags }) => RegexTree
export type RegexFlags = { isCaseless: boolean; dotTakesAll: boolean }

export const NO_FLAGS: RegexFlags = { isCaseless: false, dotTakesAll: false }
const DEPTH_MAX = 100
const TIMES_MAX = 1_000
const digits = charsOf('0-9')
const wordChars = charsOf('0-9A-Za-z_')
const spaces = charSet([...charsOf(' \t\n\r\f\v'), [0x85, 0x85], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029]])
const everything = inverted([])
const noLineFeed = inverted(charsOf('\n'))

const classEscapes: ReadonlyMap<string, CharSet> = new Map(
  Object.entries<CharSet>({
    d: digits,
    D: inverted(digits),
    w: wordChars,
    W: inverted(wordChars),
    s: spaces,
    S: inverted(spaces),
  }),
)
const controls: ReadonlyMap<string, number> = new Map(Object.entries<number>({ t: 9, n: 10, v: 11, f: 12, r: 13, e: 27, a: 7 }))
const edges: ReadonlyMap<string, RegexAnchor> = new Map(
  Object.entries<RegexAnchor>({ A: 'start', z: 'end', Z: 'end', b: 'word', B: 'no-word' }),
)
const posix: ReadonlyMap<string, CharSet> = new Map(
  Object.entries<CharSet>({
    alnum: charsOf('0-9A-Za-z'),
    alpha: charsOf('A-Za-z'),
    blank: charsOf(' \t'),
    cntrl: charSet([
      [0, 31],
      [127, 127],
    ]),
    digit: digits,
    graph: charsOf('!-~'),
    lower: charsOf('a-z'),
    print: charsOf(' -~'),
    punct: charSet([...charsOf('!-/'), ...charsOf(':-@'), ...charsOf('[-`'), ...charsOf('{-~')]),
    space: spaces,
    upper: charsOf('A-Z'),
    word: wordChars,
    xdigit: charsOf('0-9A-Fa-f'),
  }),
)

/** Builds the 400 for a pattern, with the position. */
export function badPattern(message: string, position: number, length = 1, code = 'PATTERN_SYNTAX'): Failure {
  const problem: FieldProblem = { field: 'pattern', code, message, position, length }
  return new Failure(400, `pattern ${message} (at character ${position + 1})`, { errors: [problem] })
}

/** Parses an expression. `reference` resolves `%{…}`. */
export function parseRegex(text: string, reference: ReferenceResolver, flags: RegexFlags = NO_FLAGS): RegexTree {
  const reader = new RegexReader(text, reference, flags)
  return reader.whole()
}

class RegexReader {
  readonly #text: string
  readonly #reference: ReferenceResolver
  #flags: RegexFlags
  #at = 0
  #depth = 0

  constructor(text: string, reference: ReferenceResolver, flags: RegexFlags) {
    this.#text = text
    this.#reference = reference
    this.#flags = flags
  }

  whole(): RegexTree {
    const tree = this.#choice()
    if (this.#at < this.#text.length) throw badPattern('has an unmatched closing parenthesis', this.#at)
    return tree
  }

  #choice(): RegexTree {
    const items = [this.#sequence()]
    while (this.#take('|')) items.push(this.#sequence())
    return items.length === 1 && items[0] ? items[0] : { kind: 'choice', items }
  }

  #sequence(): RegexTree {
    const items: RegexTree[] = []
    while (this.#at < this.#text.length && !this.#sees('|') && !this.#sees(')')) {
      const item = this.#item()
      if (item) items.push(this.#repeated(item))
    }
    return items.length === 1 && items[0] ? items[0] : { kind: 'sequence', items }
  }

  /** Returns undefined for flags, which apply from there on. */
  #item(): RegexTree | undefined {
    const start = this.#at
    if (this.#take('%{')) return this.#named(start)
    const char = this.#next()
    switch (char) {
      case '(':
        return this.#group(start)
      case '[':
        return this.#chars(this.#set(start))
      case '.':
        return { kind: 'char', set: this.#flags.dotTakesAll ? everything : noLineFeed }
      case '^':
        return { kind: 'edge', edge: 'start' }
      case '$':
        return { kind: 'edge', edge: 'end' }
      case '\\':
        return this.#escape(start)
      case '*':
      case '+':
      case '?':
        throw badPattern(`has a ${char} with nothing before it`, start)
      default:
        return this.#chars(single(char))
    }
  }

  #chars(set: CharSet): RegexTree {
    return { kind: 'char', set: this.#flags.isCaseless ? caseless(set) : set }
  }

  #named(start: number): RegexTree {
    const end = this.#text.indexOf('}', this.#at)
    if (end < 0) throw badPattern('has a %{ without its }', start, 2)
    const text = this.#text.slice(this.#at, end)
    this.#at = end + 1
    return this.#reference({ text, position: start, flags: this.#flags })
  }

  #group(start: number): RegexTree | undefined {
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) throw badPattern(`has groups nested more than ${DEPTH_MAX} deep`, start)
    const outer = this.#flags
    const made = this.#inGroup(start)
    this.#depth -= 1
    if (made.setsFlags) return undefined
    this.#flags = outer
    return made.tree
  }

  #inGroup(start: number): { tree?: RegexTree; setsFlags: boolean } {
    const rest = this.#text.slice(this.#at, this.#at + 300)
    const lookaround = /^\?(<?)([=!])/.exec(rest)
    if (lookaround) return { tree: this.#lookaround(start, lookaround), setsFlags: false }
    const name = /^\?P?<([A-Za-z_@$[][\w.@$[\]-]{0,255})>/.exec(rest)
    const flags = /^\?([imsx]*)(?:-([imsx]+))?([:)])/.exec(rest)
    const plain = /^\?>/.exec(rest)
    const opening = name ?? flags ?? plain
    if (!opening && rest.startsWith('?')) throw badPattern('has a kind of group that is not supported', start, 3)
    this.#at += opening?.[0].length ?? 0
    if (flags) this.#flags = changed(this.#flags, flags, start)
    if (flags?.[3] === ')') return { setsFlags: true }
    const inner = this.#choice()
    if (!this.#take(')')) throw badPattern('has a group without its closing parenthesis', start)
    return { tree: name ? { kind: 'field', item: inner, name: fieldName(name[1] ?? '') } : inner, setsFlags: false }
  }

  #lookaround(start: number, [opening, behind, sign]: RegExpExecArray): RegexTree {
    this.#at += opening.length
    const inner = this.#choice()
    if (!this.#take(')')) throw badPattern('has a group without its closing parenthesis', start)
    const side = behind === '<' ? 'before' : 'behind'
    const isAbsent = sign === '!'
    const items = (inner.kind === 'choice' ? inner.items : [inner]).map((item): RegexTree => {
      if (item.kind === 'char') return { kind: 'neighbour', set: item.set, side, isAbsent }
      const isOuterEdge = item.kind === 'edge' && item.edge === (side === 'before' ? 'start' : 'end')
      if (isOuterEdge) return isAbsent ? { kind: 'neighbour', set: everything, side, isAbsent: false } : item
      throw badPattern('has look-around of more than one character, which is not supported', start, opening.length + 1)
    })
    return { kind: isAbsent ? 'sequence' : 'choice', items }
  }

  #escape(start: number): RegexTree {
    const char = this.#next()
    const edge = edges.get(char)
    if (edge) return { kind: 'edge', edge }
    const set = classEscapes.get(char)
    return set ? { kind: 'char', set } : this.#chars(single(this.#escaped(char, start)))
  }

  /** Returns the character of an escape sequence. */
  #escaped(char: string, start: number): string {
    if (char === '') throw badPattern('ends with a backslash', start)
    const control = controls.get(char)
    if (control !== undefined) return String.fromCharCode(control)
    if (char === 'x' || char === 'u') {
      const match = (char === 'x' ? /^(?:\{([\da-f]{1,6})\}|([\da-f]{2}))/i : /^()([\da-f]{4})/i).exec(
        this.#text.slice(this.#at, this.#at + 8),
      )
      const point = Number.parseInt(match?.[1] || match?.[2] || '', 16)
      if (!match || !(point <= 0x10ffff)) throw badPattern(`has a \\${char} without a character's number`, start, 2)
      this.#at += match[0].length
      return String.fromCodePoint(point)
    }
    if (/[0-9k]/.test(char)) throw badPattern('has a back-reference, which is not supported', start, 2)
    if (/[A-Za-z]/.test(char)) throw badPattern(`has the unknown escape \\${char}`, start, 2)
    return char
  }

  /** Parses a bracket expression. */
  #set(start: number): CharSet {
    const isInverted = this.#take('^')
    const ranges: CodePointRange[] = []
    for (let isFirst = true; isFirst || !this.#sees(']'); isFirst = false) {
      if (this.#at >= this.#text.length) throw badPattern('has a [ without its ]', start)
      ranges.push(...this.#member())
    }
    this.#at += 1
    const set = charSet(ranges)
    const both = this.#flags.isCaseless ? caseless(set) : set
    return isInverted ? inverted(both) : both
  }

  #member(): CharSet {
    const start = this.#at
    const named = /^\[:(\^?)(\w+):\]/.exec(this.#text.slice(start, start + 20))
    if (named) {
      const set = posix.get(named[2] ?? '')
      if (!set) throw badPattern(`has the unknown class ${named[0]}`, start, named[0].length)
      this.#at += named[0].length
      return named[1] ? inverted(set) : set
    }
    const first = this.#memberChar(start)
    if (typeof first !== 'string') return first
    if (!this.#sees('-') || this.#text[this.#at + 1] === ']' || this.#at + 1 >= this.#text.length) return single(first)
    this.#at += 1
    const last = this.#memberChar(this.#at)
    if (typeof last !== 'string') return charSet([...single(first), ...single('-'), ...last])
    const range: CodePointRange = [pointOf(first), pointOf(last)]
    if (range[0] > range[1]) throw badPattern('has a range that ends before it begins', start, this.#at - start)
    return [range]
  }

  #memberChar(start: number): string | CharSet {
    const char = this.#next()
    if (char !== '\\') return char
    const escaped = this.#next()
    const set = classEscapes.get(escaped)
    if (set) return set
    return escaped === 'b' ? '\b' : this.#escaped(escaped, start)
  }

  #repeated(item: RegexTree): RegexTree {
    const match = /^(?:([*+?])|\{(\d{1,6})(?:(,)(\d{1,6})?)?\})([?+]?)/.exec(this.#text.slice(this.#at, this.#at + 20))
    if (!match) return item
    const [whole, sign, from, comma, to, mode] = match
    if (mode === '+') throw badPattern('has a possessive quantifier, which is not supported', this.#at, whole.length)
    const min = sign === undefined ? Number(from) : sign === '+' ? 1 : 0
    const counted = comma === undefined ? min : to === undefined ? Number.POSITIVE_INFINITY : Number(to)
    const max = sign === undefined ? counted : sign === '?' ? 1 : Number.POSITIVE_INFINITY
    if (max < min) throw badPattern('has a repetition whose maximum is below its minimum', this.#at, whole.length)
    if (min > TIMES_MAX || (max > TIMES_MAX && max !== Number.POSITIVE_INFINITY))
      throw badPattern(`repeats more than ${TIMES_MAX} times`, this.#at, whole.length)
    this.#at += whole.length
    const tree: RegexTree = { kind: 'repeat', item, min, max, isLazy: mode === '?' }
    if (/^(?:[*+?]|\{\d)/.test(this.#text.slice(this.#at, this.#at + 2))) throw badPattern('has two quantifiers in a row', this.#at)
    return tree
  }

  #sees(text: string): boolean {
    return this.#text.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    const isThere = this.#sees(text)
    if (isThere) this.#at += text.length
    return isThere
  }

  #next(): string {
    const point = this.#text.codePointAt(this.#at)
    if (point === undefined) return ''
    const char = String.fromCodePoint(point)
    this.#at += char.length
    return char
  }
}

const pointOf = (char: string): number => char.codePointAt(0) ?? 0
const single = (char: string): CharSet => [[pointOf(char), pointOf(char)]]

/** As in GROK (Oniguruma), `m` lets the dot match line feeds; so does `s`. */
function changed(flags: RegexFlags, [whole, on = '', off = '']: RegExpExecArray, start: number): RegexFlags {
  if (`${on}${off}`.includes('x')) throw badPattern('has the free-spacing flag, which is not supported', start, whole.length + 1)
  return {
    isCaseless: (flags.isCaseless || on.includes('i')) && !off.includes('i'),
    dotTakesAll: (flags.dotTakesAll || /[ms]/.test(on)) && !/[ms]/.test(off),
  }
}

/** Converts names of nested fields, `[a][b]`, to `a.b`. */
export const fieldName = (written: string): string =>
  /^(?:\[[^[\]]+\])+$/.test(written) ? written.slice(1, -1).replaceAll('][', '.') : written
