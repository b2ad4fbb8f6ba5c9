import { badRequest, type Failure } from '../../../kernel/errors.ts'

const SPACE = /[ \t\r\n]*/y
const TOKEN =
  /(&&|\|\||[&!]?(?:>>|<<)|&[<>~]|![<>](?!=)|=~|!~|!=|>=|<=|[{}()=<>!|,~])|("(?:[^"\\]|\\.)*"|`[^`]*`)|(-?\d+(?:\.\d+)?(?:[a-zµ]+(?:\d+(?:\.\d+)?[a-zµ]+)*)?(?![\w.]))|((?:[A-Za-z_]\w*:)?\.?(?:[\w/*-]+|"(?:[^"\\]|\\.)*")(?:\.(?:[\w/*-]+|"(?:[^"\\]|\\.)*"))*)/y

export type TraceqlToken = { readonly kind: 'sign' | 'text' | 'number' | 'word' | 'end'; readonly text: string; readonly position: number }

/** Reads the tokens of a query one after the other, each by what is expected there. */
export class TraceqlTokens {
  readonly #query: string
  #next: TraceqlToken
  #end = 0

  constructor(query: string) {
    this.#query = query
    this.#next = this.#read()
  }

  get next(): TraceqlToken {
    return this.#next
  }

  /** What follows the next token. */
  get rest(): string {
    return this.#query.slice(this.#end).trimStart()
  }

  take(): TraceqlToken {
    const taken = this.#next
    this.#next = this.#read()
    return taken
  }

  is = (sign: string): boolean => this.#next.kind === 'sign' && this.#next.text === sign

  isWord = (word: string): boolean => this.#next.kind === 'word' && this.#next.text === word

  skip(sign: string): boolean {
    if (!this.is(sign)) return false
    this.take()
    return true
  }

  skipWord(word: string): boolean {
    if (!this.isWord(word)) return false
    this.take()
    return true
  }

  expect(sign: string): void {
    if (!this.skip(sign)) throw this.error(`expected ${sign}`)
  }

  error(message: string, { text, position }: TraceqlToken = this.#next): Failure {
    return badRequest(`q is not valid at character ${position + 1}${text === '' ? '' : ` (${text})`}: ${message}`)
  }

  #read(): TraceqlToken {
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
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
])

const unquoted = (quoted: string): string =>
  quoted.startsWith('`') ? quoted.slice(1, -1) : quoted.slice(1, -1).replace(/\\(.)/gs, (_, sign: string) => escapes.get(sign) ?? sign)
