import type { CompiledParser, ParserResult } from './compiled.ts'
import { badPattern } from './regex-syntax.ts'

/** A field: what to do with its text, and the delimiter after it. */
type DissectPart = {
  use: 'keep' | 'skip' | 'append' | 'name' | 'value'
  name: string
  order: number
  /** Whether the delimiter may be repeated. */
  isPadded: boolean
  delimiter: string
}
type DissectPlan = { lead: string; parts: readonly DissectPart[] }

const KEY = /^([+?*&]?)([^/>{}]*?)(?:\/(\d{1,3}))?(->)?$/
const FIELDS_MAX = 200

/** Compiles a parser that splits a line at fixed delimiters, such as `%{date} %{time} [%{level}] %{text}`. */
export function compileDissect(pattern: string): CompiledParser {
  const plan = planOf(pattern)
  const fields = [...new Set(plan.parts.filter(({ use }) => use === 'keep' || use === 'append').map(({ name }) => name))]
  if (fields.length === 0 && !plan.parts.some(({ use }) => use === 'value')) {
    throw badPattern('names no field: write %{field}', 0, pattern.length, 'NO_FIELDS')
  }
  return {
    fields,
    read: (text, fuel): ParserResult => {
      fuel.steps -= text.length
      if (fuel.steps <= 0) return { kind: 'given up' }
      const texts = cut(plan, text)
      return texts ? { kind: 'match', pairs: pairsOf(plan.parts, texts) } : { kind: 'no match' }
    },
  }
}

function planOf(pattern: string): DissectPlan {
  const found = [...pattern.matchAll(/%\{([^}]*)\}/g)]
  if (found.length === 0) throw badPattern('names no field: write %{field}', 0, pattern.length, 'NO_FIELDS')
  if (found.length > FIELDS_MAX) throw badPattern(`has more than ${FIELDS_MAX} fields`, 0, 1, 'PATTERN_TOO_LARGE')
  const parts = found.map((match, index): DissectPart => {
    const behind = match.index + match[0].length
    const next = found[index + 1]
    const delimiter = pattern.slice(behind, next?.index)
    if (next && delimiter === '') throw badPattern('has two fields with nothing between them', behind)
    return { ...partOf(match[1] ?? '', match.index), delimiter }
  })
  const values = parts.filter(({ use }) => use === 'value')
  const names = parts.filter(({ use }) => use === 'name')
  for (const { name } of [...values, ...names]) {
    const isPair = values.some((one) => one.name === name) && (names.some((one) => one.name === name) || isSkipped(parts, name))
    if (!isPair) throw badPattern(`lacks one of %{*${name}} and %{&${name}}`, 0, pattern.length)
  }
  return { lead: pattern.slice(0, found[0]?.index), parts }
}

const isSkipped = (parts: readonly DissectPart[], name: string): boolean => parts.some((part) => part.use === 'skip' && part.name === name)

const uses: ReadonlyMap<string, DissectPart['use']> = new Map([
  ['', 'keep'],
  ['+', 'append'],
  ['?', 'skip'],
  ['*', 'name'],
  ['&', 'value'],
])

function partOf(written: string, position: number): Omit<DissectPart, 'delimiter'> {
  const [, sign = '', name = '', order = '0', padding] = KEY.exec(written.trim()) ?? [undefined, 'bad']
  const known = uses.get(sign)
  if (known === undefined) throw badPattern(`cannot be read at %{${written}}`, position, written.length + 3)
  const use = name === '' ? 'skip' : known
  if (name === '' && sign !== '' && sign !== '?') throw badPattern('has a field without a name', position, written.length + 3)
  return { use, name: name.trim(), order: Number(order), isPadded: padding !== undefined }
}

/** Returns the text of each field, or undefined when a delimiter is missing. Text after the last delimiter is ignored. */
function cut({ lead, parts }: DissectPlan, text: string): string[] | undefined {
  if (!text.startsWith(lead)) return undefined
  const texts: string[] = []
  let at = lead.length
  for (const { delimiter, isPadded } of parts) {
    const end = delimiter === '' ? text.length : text.indexOf(delimiter, at)
    if (end < 0) return undefined
    texts.push(text.slice(at, end))
    at = end + delimiter.length
    while (isPadded && delimiter !== '' && text.startsWith(delimiter, at)) at += delimiter.length
  }
  return texts
}

/** Leaves out empty fields. Appended fields are joined by a blank, in their explicit order if they have one. */
function pairsOf(parts: readonly DissectPart[], texts: readonly string[]): [string, string][] {
  const found = parts.map((part, index) => ({ ...part, text: texts[index] ?? '' }))
  const pairs = new Map<string, string>()
  const joined = Map.groupBy(
    found.filter(({ use }) => use === 'keep' || use === 'append'),
    ({ name }) => name,
  )
  for (const [name, own] of joined) {
    const inOrder = own.toSorted((a, b) => a.order - b.order).map(({ text }) => text)
    pairs.set(name, inOrder.filter((text) => text !== '').join(' '))
  }
  for (const { use, name, text } of found) {
    if (use !== 'value') continue
    const key = found.find((other) => other.name === name && (other.use === 'name' || other.use === 'skip'))?.text ?? ''
    if (key !== '') pairs.set(key, text)
  }
  return [...pairs].filter(([, text]) => text !== '')
}
