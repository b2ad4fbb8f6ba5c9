import { type ConfigGrammar, closings, lineFinder, masked } from './masked-text.ts'

/** A block such as `loki.source.file "a" { … }` at the top of a file. */
export type AlloyBlock = {
  readonly name: string
  readonly label: string
  /** The name under which other blocks refer to it. */
  readonly path: string
  readonly start: number
  readonly open: number
  readonly close: number
  readonly line: number
}
type ParsedText = { text: string; mask: string; pairs: ReadonlyMap<number, number>; blocks: readonly AlloyBlock[] }
type Span = { readonly open: number; readonly close: number }

const GRAMMAR: ConfigGrammar = { lineComments: ['//'], quotes: '"', rawQuotes: '`' }
const INDENT = '  '

/** An Alloy file that can be changed; only changed parts are rewritten. */
export class AlloyFile {
  text: string
  #last: ParsedText | undefined

  constructor(text: string) {
    this.text = text
    // Parse now, so that an unreadable file fails here.
    this.blocks()
  }

  get isEmpty(): boolean {
    return this.mask.trim() === ''
  }

  get mask(): string {
    return this.#seen().mask
  }

  blocks(): readonly AlloyBlock[] {
    return this.#seen().blocks
  }

  /** The parsed text, cached for each text. */
  #seen(): ParsedText {
    if (this.#last?.text === this.text) return this.#last
    const mask = masked(this.text, GRAMMAR)
    const pairs = closings(this.text, mask)
    this.#last = { text: this.text, mask, pairs, blocks: this.#blocksIn(mask, pairs) }
    return this.#last
  }

  #blocksIn(mask: string, pairs: ReadonlyMap<number, number>): AlloyBlock[] {
    const lineOf = lineFinder(this.text)
    const found: AlloyBlock[] = []
    let after = 0
    for (const match of mask.matchAll(/(?<![\w.])([A-Za-z_][\w.]*)[ \t]*(?:"[^"\n]*"[ \t]*)?\{/g)) {
      const open = match.index + match[0].length - 1
      const close = pairs.get(open)
      if (match.index < after || close === undefined) continue
      after = close
      const name = match[1] ?? ''
      const label = this.text.slice(match.index, open).match(/"([^"]*)"/)?.[1] ?? ''
      const path = label === '' ? name : `${name}.${label}`
      found.push({ name, label, path, start: match.index, open, close, line: lineOf(match.index) })
    }
    return found
  }

  find(path: string): AlloyBlock | undefined {
    return this.blocks().find((block) => block.path === path)
  }

  freeLabel(name: string, wanted: string): string {
    const taken = this.blocks().flatMap((block) => (block.name === name ? [block.label] : []))
    for (let number = 1; ; number += 1) {
      const label = number === 1 ? wanted : `${wanted}_${number}`
      if (!taken.includes(label)) return label
    }
  }

  append(text: string, comment?: string): void {
    const gap = this.text === '' ? '' : this.text.endsWith('\n') ? '\n' : '\n\n'
    this.text = `${this.text}${gap}${comment === undefined ? '' : `// ${comment}\n`}${text}\n`
  }

  replace(from: number, to: number, text: string): void {
    this.text = `${this.text.slice(0, from)}${text}${this.text.slice(to)}`
  }

  /** The text of an attribute within blocks of the given names. */
  value(path: string, within: readonly string[], attribute: string): string | undefined {
    const span = this.#within(path, within)
    const found = span && this.#attribute(span, attribute)
    return found && this.text.slice(found.from, found.to)
  }

  /** Sets an attribute and creates the blocks on the way. */
  set(path: string, within: readonly string[], attribute: string, value: string): void {
    let span: Span | undefined = this.find(path)
    for (const [depth, name] of within.entries()) {
      const inner: Span | undefined = span && this.#inner(span, name)
      if (!inner && span) this.#insert(span, depth, `${name} {\n${INDENT.repeat(depth + 1)}}`)
      span = this.#within(path, within.slice(0, depth + 1))
    }
    if (!span) return
    const old = this.#attribute(span, attribute)
    if (old) this.replace(old.from, old.to, value)
    else this.#insert(span, within.length, `${attribute} = ${value}`)
  }

  /** Adds a reference to a list and creates the list if absent. */
  add(path: string, within: readonly string[], attribute: string, reference: string): void {
    const list = this.value(path, within, attribute)?.trim()
    if (list === undefined) this.set(path, within, attribute, `[${reference}]`)
    else if (list === '[]') this.set(path, within, attribute, `[${reference}]`)
    else if (list.endsWith(']')) this.set(path, within, attribute, `${list.slice(0, -1).replace(/[\s,]+$/, '')}, ${reference}]`)
    else this.set(path, within, attribute, `concat(${list}, [${reference}])`)
  }

  /** Redirects every log record from one target to another; traces keep theirs. */
  redirect(from: string, to: string): void {
    const mask = this.mask
    const places = [...mask.matchAll(new RegExp(`(?<![\\w.])${from.replaceAll('.', '\\.')}(?![\\w.])`, 'g'))]
      .map(({ index }) => index)
      .filter((index) => !/\btraces[ \t]*=/.test(mask.slice(mask.lastIndexOf('\n', index) + 1, index)))
    for (const index of places.reverse()) this.replace(index, index + from.length, to)
  }

  #within(path: string, within: readonly string[]): Span | undefined {
    return within.reduce<Span | undefined>((span, name) => span && this.#inner(span, name), this.find(path))
  }

  #inner({ open, close }: Span, name: string): Span | undefined {
    const { mask, pairs } = this.#seen()
    const match = new RegExp(`(?<![\\w.])${name}[ \\t]*\\{`).exec(mask.slice(open + 1, close))
    if (!match) return undefined
    const start = open + 1 + match.index + match[0].length - 1
    return { open: start, close: pairs.get(start) ?? start }
  }

  /** Finds an attribute of the block itself, not of a nested block. */
  #attribute({ open, close }: Span, attribute: string): { from: number; to: number } | undefined {
    const { mask, pairs } = this.#seen()
    for (const match of mask.slice(open + 1, close).matchAll(new RegExp(`(?<![\\w.])${attribute}[ \\t]*=[ \\t]*`, 'g'))) {
      const at = open + 1 + match.index
      const isInside = [...pairs].some(([from, to]) => from > open && from < at && at < to)
      if (isInside) continue
      const from = at + match[0].length
      return { from, to: valueEnd(mask, pairs, from) }
    }
    return undefined
  }

  #insert({ close }: Span, depth: number, text: string): void {
    const lineStart = this.text.lastIndexOf('\n', close - 1) + 1
    const isOwnLine = this.text.slice(lineStart, close).trim() === ''
    const inner = INDENT.repeat(depth + 1)
    if (isOwnLine) this.replace(lineStart, lineStart, `${inner}${text}\n`)
    else {
      const end = this.text.slice(0, close).trimEnd().length
      this.replace(end, close, `\n${inner}${text}\n${INDENT.repeat(depth)}`)
    }
  }
}

/** The end of the line on which a value ends; brackets may span several. */
function valueEnd(mask: string, pairs: ReadonlyMap<number, number>, from: number): number {
  let at = from
  while (at < mask.length && mask[at] !== '\n' && mask[at] !== '}') at = pairs.has(at) ? (pairs.get(at) ?? at) + 1 : at + 1
  return from + mask.slice(from, at).trimEnd().length
}
