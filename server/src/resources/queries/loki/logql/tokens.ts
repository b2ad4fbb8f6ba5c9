import type { TextSpan } from '@dendro/language/tree'
import type { Failure } from '../../../../kernel/errors.ts'
import { type LogqlToken, scanLogql } from './scan.ts'
import { echoed, logqlError } from './syntax-error.ts'

const DEPTH_MAX = 100

/** Reads the tokens of a query one after another. */
export class LogqlTokens {
  readonly text: string
  readonly #tokens: readonly LogqlToken[]
  #next = 0
  #depth = 0

  constructor(text: string) {
    this.text = text
    this.#tokens = scanLogql(text)
  }

  get position(): number {
    return this.peek().position
  }

  peek(ahead = 0): LogqlToken {
    const token = this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]
    if (!token) throw new Error('a query has an end')
    return token
  }

  next(): LogqlToken {
    const token = this.peek()
    if (token.kind !== 'end') this.#next += 1
    return token
  }

  isMark(...marks: readonly string[]): boolean {
    const { kind, text } = this.peek()
    return kind === 'mark' && marks.includes(text)
  }

  isWord(...words: readonly string[]): boolean {
    const { kind, text } = this.peek()
    return kind === 'name' && words.includes(text.toLowerCase())
  }

  /** Skips a mark if it is the next token. */
  skip(mark: string): boolean {
    const isNext = this.isMark(mark)
    if (isNext) this.next()
    return isNext
  }

  skipWord(word: string): boolean {
    const isNext = this.isWord(word)
    if (isNext) this.next()
    return isNext
  }

  expect(mark: string): LogqlToken {
    if (!this.isMark(mark)) throw this.unexpected(`'${mark}'`)
    return this.next()
  }

  take(kind: 'name' | 'string' | 'number' | 'duration', wanted: string): LogqlToken {
    if (this.peek().kind !== kind) throw this.unexpected(wanted)
    return this.next()
  }

  /** The span from a position to the last token that was read. */
  since(position: number): TextSpan {
    const last = this.#tokens[this.#next - 1]
    return { position, length: last ? last.position + last.length - position : 0 }
  }

  /** Bounds the nesting of a query. */
  nested<T>(read: () => T): T {
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) throw this.error(this.peek(), `parts are nested more than ${DEPTH_MAX} levels deep`)
    const found = read()
    this.#depth -= 1
    return found
  }

  unexpected(wanted: string): Failure {
    const token = this.peek()
    const found = token.kind === 'end' ? 'the end of the query' : echoed(this.text.slice(token.position, token.position + token.length))
    const dots = token.text === '.' ? '; labels are written with underscores, such as service_name' : ''
    return this.error(token, `expected ${wanted}, found ${found}${dots}`)
  }

  error(at: Pick<TextSpan, 'position'>, message: string): Failure {
    return logqlError(this.text, at, message)
  }
}
