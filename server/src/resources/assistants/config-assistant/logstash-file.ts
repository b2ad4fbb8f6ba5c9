import { type ConfigGrammar, closings, lineFinder, masked } from './masked-text.ts'

/** A section, a plug-in or a condition with its braces. */
export type LogstashBlock = {
  readonly name: string
  readonly start: number
  readonly open: number
  readonly close: number
  readonly depth: number
  /** The section that contains it, or itself. */
  readonly section: string
  readonly line: number
}

const GRAMMAR: ConfigGrammar = { lineComments: ['#'], quotes: '"\'', rawQuotes: '' }
const INDENT = '  '

/** A Logstash pipeline that can be changed; only changed parts are rewritten. */
export class LogstashFile {
  text: string
  #last: { text: string; mask: string; blocks: readonly LogstashBlock[] } | undefined

  constructor(text: string) {
    this.text = text
    // Parse now, so that an unreadable file fails here.
    this.blocks()
  }

  get isEmpty(): boolean {
    return this.blocks().length === 0
  }

  blocks(): readonly LogstashBlock[] {
    if (this.#last?.text !== this.text) {
      // Regular expressions may contain quotes and brackets of their own.
      const plain = this.text.replaceAll(/[=!]~[ \t]*\/(?:\\.|[^/\\\n])*\//g, (literal) => ' '.repeat(literal.length))
      const mask = masked(plain, GRAMMAR)
      this.#last = { text: this.text, mask, blocks: blocksIn(this.text, mask) }
    }
    return this.#last.blocks
  }

  section(name: string): LogstashBlock | undefined {
    return this.blocks().find((block) => block.depth === 0 && block.name === name)
  }

  /** Finds the plug-in with an id. */
  plugin(id: string): LogstashBlock | undefined {
    return this.blocks().find((block) => block.depth > 0 && this.value(block, 'id') === id)
  }

  /** The text of a setting of the block itself. */
  value(block: LogstashBlock, setting: string): string | undefined {
    const found = this.#setting(block, setting)
    return found && this.text.slice(found.from, found.to).replaceAll(/^["']|["']$/g, '')
  }

  set(block: LogstashBlock | undefined, setting: string, value: string): void {
    if (!block) return
    const old = this.#setting(block, setting)
    if (old) this.replace(old.from, old.to, value)
    else this.#endOf(block, `${setting} => ${value}`)
  }

  /** Sets an entry of a block of names and values, such as headers; both are given with their quotes. */
  setEntry(block: LogstashBlock, name: string, value: string): void {
    const start = block.open + 1
    const inside = this.text.slice(start, block.close)
    const entries = [...inside.matchAll(/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*=>\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/g)]
    const plain = (quotedName = ''): string => quotedName.slice(1, -1).toLowerCase()
    const old = entries.find((entry) => plain(entry[1]) === plain(name))
    if (old) this.replace(start + old.index, start + old.index + old[0].length, `${name} => ${value}`)
    else this.#endOf(block, `${name} => ${value}`)
  }

  /** Appends a plug-in to a section and creates the section if absent. */
  add(section: string, plugin: string, comment: string): void {
    const lines = [`# ${comment}`, ...plugin.split('\n')]
    const block = this.section(section)
    if (block) this.#endOf(block, lines.join(`\n${INDENT}`))
    else {
      const gap = this.text === '' ? '' : this.text.endsWith('\n') ? '\n' : '\n\n'
      this.text = `${this.text}${gap}${section} {\n${lines.map((line) => `${INDENT}${line}\n`).join('')}}\n`
    }
  }

  replace(from: number, to: number, text: string): void {
    this.text = `${this.text.slice(0, from)}${text}${this.text.slice(to)}`
  }

  #setting(block: LogstashBlock, setting: string): { from: number; to: number } | undefined {
    const { mask, blocks } = this.#last ?? { mask: '', blocks: [] }
    const match = [...mask.slice(block.open, block.close).matchAll(new RegExp(`(?<![\\w.])${setting}[ \\t]*=>[ \\t]*`, 'g'))].find(
      ({ index }) =>
        !blocks.some(
          ({ open, close }) => open > block.open && close < block.close && open < block.open + index && block.open + index < close,
        ),
    )
    if (!match) return undefined
    const from = block.open + match.index + match[0].length
    const sign = mask[from] ?? ''
    const closing = sign === '[' ? ']' : sign
    const end =
      '"\'['.includes(sign) && sign !== ''
        ? mask.indexOf(closing, from + 1) + 1
        : from + (/^[\w.+-]*/.exec(mask.slice(from))?.[0].length ?? 0)
    return { from, to: end }
  }

  #endOf({ close, depth }: LogstashBlock, text: string): void {
    const lineStart = this.text.lastIndexOf('\n', close - 1) + 1
    const inner = INDENT.repeat(depth + 1)
    if (this.text.slice(lineStart, close).trim() === '') this.replace(lineStart, lineStart, `${inner}${text}\n`)
    else {
      const end = this.text.slice(0, close).trimEnd().length
      this.replace(end, close, `\n${inner}${text}\n${INDENT.repeat(depth)}`)
    }
  }
}

function blocksIn(text: string, mask: string): LogstashBlock[] {
  const pairs = closings(text, mask)
  const lineOf = lineFinder(text)
  const found: LogstashBlock[] = []
  const around: LogstashBlock[] = []
  for (const match of mask.matchAll(/(?<![\w.@-])(?:([a-z_]\w*)\s*)?\{/gi)) {
    const open = match.index + match[0].length - 1
    const close = pairs.get(open)
    if (close === undefined) continue
    while ((around.at(-1)?.close ?? Number.POSITIVE_INFINITY) < open) around.pop()
    const name = match[1] ?? ''
    const block = {
      name,
      start: match.index,
      open,
      close,
      depth: around.length,
      section: around[0]?.name ?? name,
      line: lineOf(match.index),
    }
    found.push(block)
    around.push(block)
  }
  return found
}
