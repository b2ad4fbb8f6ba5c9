import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { RE2JS } from 're2js'
import oniguruma from 'vscode-oniguruma'
import { grokNames } from '../../server/src/parsers/grok-names.ts'

/** The texts of the fields in a line, or undefined if it does not match. */
export type LineReader = (line: string) => [name: string, text: string][] | undefined
type Expression = { source: string; fields: string[] }

const REFERENCE = /%\{(\w+)(?::(\w+))?\}/g
const LOOKAROUND = /\(\?<?!\[[^\]]*\]\)/g

/** Replaces each name by its expression, as GROK libraries do, with a numbered group for each field. */
function expressionOf(pattern: string): Expression {
  const fields: string[] = []
  const expand = (text: string): string =>
    text.replace(REFERENCE, (_, name: string, field?: string) => {
      if (field !== undefined) fields.push(field)
      return `(${field === undefined ? '?:' : ''}${expand(grokNames.get(name) ?? '')})`
    })
  return { source: expand(pattern), fields }
}

function pairsOf(fields: readonly string[], textOf: (index: number) => string | null | undefined): [string, string][] {
  const pairs = new Map<string, string>()
  for (const [index, name] of fields.entries()) {
    const text = textOf(index + 1)
    if (text && !pairs.has(name)) pairs.set(name, text)
  }
  return [...pairs]
}

export function withRegExp(pattern: string): LineReader {
  const { source, fields } = expressionOf(pattern)
  const regex = new RegExp(source)
  return (line) => {
    const found = regex.exec(line)
    return found ? pairsOf(fields, (index) => found[index]) : undefined
  }
}

/** It has neither lookaround nor nested repetitions of more than 1 000. The lines of this benchmark match in the same way without them. */
export function withRe2(pattern: string): LineReader {
  const { source, fields } = expressionOf(pattern)
  const regex = RE2JS.compile(
    source
      .replace(LOOKAROUND, '')
      .replace(/\{0,\d\d\}/g, '*')
      .replace(/\{1,\d\d\}/g, '+'),
  )
  return (line) => {
    const matcher = regex.matcher(line)
    return matcher.find() ? pairsOf(fields, (index) => matcher.group(index)) : undefined
  }
}

const require = createRequire(import.meta.url)
await oniguruma.loadWASM(readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')))

export function withOniguruma(pattern: string): LineReader {
  const { source, fields } = expressionOf(pattern)
  const scanner = oniguruma.createOnigScanner([source])
  return (line) => {
    const places = scanner.findNextMatchSync(line, 0)?.captureIndices
    return places && pairsOf(fields, (index) => line.slice(places[index]?.start, places[index]?.end))
  }
}
