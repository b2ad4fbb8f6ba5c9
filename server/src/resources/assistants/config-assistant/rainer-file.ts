import { type ConfigGrammar, closings, lineFinder, masked } from './masked-text.ts'

/** An object such as `action(type="x")`, at any position. */
export type RainerScriptObject = {
  readonly name: string
  readonly start: number
  /** The positions of its parentheses. */
  readonly open: number
  readonly close: number
  /** The positions of the braces after it, if any. */
  readonly block: { readonly open: number; readonly close: number } | undefined
  readonly line: number
  /** Names are in lower case. */
  readonly parameters: ReadonlyMap<string, { readonly value: string; readonly from: number; readonly to: number }>
}

const GRAMMAR: ConfigGrammar = { lineComments: ['#'], quotes: '"\'', rawQuotes: '`' }

/** An rsyslog file that can be changed; only changed parts are rewritten. */
export class RainerScriptFile {
  text: string

  constructor(text: string) {
    this.text = text
    // Parse now, so that an unreadable file fails here.
    this.objects()
  }

  get isEmpty(): boolean {
    return masked(this.text, GRAMMAR).trim() === ''
  }

  objects(): RainerScriptObject[] {
    const mask = masked(this.text, GRAMMAR)
    const pairs = closings(this.text, mask)
    const lineOf = lineFinder(this.text)
    return [...mask.matchAll(/\b([a-z_]+)\s*\(/gi)].flatMap((match) => {
      const open = match.index + match[0].length - 1
      const close = pairs.get(open)
      if (close === undefined) return []
      const brace = close + 1 + (/^\s*/.exec(mask.slice(close + 1))?.[0].length ?? 0)
      const end = mask[brace] === '{' ? pairs.get(brace) : undefined
      return {
        name: (match[1] ?? '').toLowerCase(),
        start: match.index,
        open,
        close,
        block: end === undefined ? undefined : { open: brace, close: end },
        line: lineOf(match.index),
        parameters: this.#parameters(mask, open, close),
      }
    })
  }

  #parameters(mask: string, open: number, close: number): RainerScriptObject['parameters'] {
    const found = new Map<string, { value: string; from: number; to: number }>()
    for (const match of mask.slice(open + 1, close).matchAll(/(?<![\w.])([\w.]+)\s*=\s*(["'`])\s*\2/g)) {
      const from = open + 1 + match.index
      const to = from + match[0].length
      const quote = this.text.slice(from, to).indexOf(match[2] ?? '')
      found.set((match[1] ?? '').toLowerCase(), { value: this.text.slice(from + quote + 1, to - 1), from, to })
    }
    return found
  }

  named(name: string, parameter: string, value: string): RainerScriptObject | undefined {
    return this.objects().find((object) => object.name === name && object.parameters.get(parameter)?.value === value)
  }

  insert(at: number, text: string): void {
    this.text = `${this.text.slice(0, at)}${text}${this.text.slice(at)}`
  }

  append(text: string): void {
    this.text = `${this.text}${this.text === '' || this.text.endsWith('\n') ? '' : '\n'}${text}`
  }

  /** Sets a parameter of an object; `find` locates the object again after earlier changes. */
  set(find: () => RainerScriptObject | undefined, parameter: string, value: string): void {
    const object = find()
    if (!object) return
    const written = `${parameter}="${inQuotes(value)}"`
    const old = object.parameters.get(parameter.toLowerCase())
    if (old) this.text = `${this.text.slice(0, old.from)}${written}${this.text.slice(old.to)}`
    else this.insert(object.close, `\n    ${written}`)
  }

  /** Loads a module once, next to the others. */
  loadModule(name: string): void {
    if (this.named('module', 'load', name)) return
    const last = this.objects().findLast((object) => object.name === 'module')
    if (last) {
      const end = this.text.indexOf('\n', last.close)
      this.insert(end < 0 ? this.text.length : end, `\nmodule(load="${name}")`)
    } else this.append(`module(load="${name}")\n`)
  }
}

export const inQuotes = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')

/** A string literal in an expression; between single quotes a $ is literal. */
export const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
