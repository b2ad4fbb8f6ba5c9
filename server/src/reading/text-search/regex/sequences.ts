import { itemAt, literalOf, type RegexCharacters, repetitionAt } from '../../../query/regex-items.ts'

/** One character of a form. `isOptional` says that it may be missing, `isLoop` that it may also be there any number of times. */
export type FormItem = { readonly source: string; readonly isOptional: boolean; readonly isLoop: boolean }
/** A sequence of characters without alternatives. */
export type RegexForm = readonly FormItem[]

/** More or longer forms take a statement longer to prepare than lines to rebuild. */
const FORMS_MAX = 12
const ITEMS_MAX = 64

/**
 * Splits a regular expression into forms, one of which every match has. Undefined for conditions on positions, repeated groups, too many forms, and syntax
 * that is not plain.
 */
export function regexForms({ pattern, start }: RegexCharacters): readonly RegexForm[] | undefined {
  let at = start
  const forms = alternatives(0)
  return at === pattern.length ? forms : undefined

  function alternatives(depth: number): readonly RegexForm[] | undefined {
    const found: RegexForm[] = []
    for (;;) {
      const own = sequence(depth)
      if (!own) return undefined
      found.push(...own)
      if (pattern[at] !== '|') return found.length > FORMS_MAX ? undefined : found
      at += 1
    }
  }

  function sequence(depth: number): readonly RegexForm[] | undefined {
    let found: readonly RegexForm[] = [[]]
    while (at < pattern.length && pattern[at] !== '|' && !(depth > 0 && pattern[at] === ')')) {
      const next = pattern[at] === '(' ? group(depth) : item()
      if (!next) return undefined
      found = found.flatMap((before) => next.map((own) => [...before, ...own]))
      if (found.length > FORMS_MAX || found.some(({ length }) => length > ITEMS_MAX)) return undefined
    }
    return found
  }

  function group(depth: number): readonly RegexForm[] | undefined {
    at += pattern.startsWith('(?:', at) ? 3 : 1
    const inner = pattern[at] === '?' ? undefined : alternatives(depth + 1)
    if (!inner || pattern[at] !== ')') return undefined
    at += 1
    const { length, least, most } = repetitionAt(pattern, at)
    at += length
    if (most !== 1) return undefined
    return least === 0 ? [...inner, []] : inner
  }

  function item(): readonly RegexForm[] | undefined {
    const one = itemAt(pattern, at)
    if (one?.kind !== 'character') return undefined
    const { source } = one
    at += source.length
    const { length, least, most } = repetitionAt(pattern, at)
    at += length
    const copies = most === Number.POSITIVE_INFINITY ? least : most
    if (copies > ITEMS_MAX) return undefined
    const form = Array.from({ length: copies }, (_, copy) => ({ source, isOptional: copy >= least, isLoop: false }))
    return [most === Number.POSITIVE_INFINITY ? [...form, { source, isOptional: true, isLoop: true }] : form]
  }
}

/** Writes a piece of a form. A loop at its end may be there too, since a piece may end inside it. */
export function writtenForm(form: RegexForm, from: number, to: number): string {
  const written = form.slice(from, to).map(({ source, isOptional, isLoop }) => source + (isLoop ? '*' : isOptional ? '?' : ''))
  const last = form[to]
  return written.join('') + (last?.isLoop ? `${last.source}*` : '')
}

/** The positions of a form behind a character that it takes from one on. A position is the number of the next item. */
export function positionsBehind(form: RegexForm, from: number, fits: (source: string) => boolean): readonly number[] {
  const found: number[] = []
  for (const [index, { source, isOptional, isLoop }] of form.entries()) {
    if (index < from) continue
    if (fits(source)) found.push(isLoop ? index : index + 1)
    if (!isOptional) break
  }
  return found
}

/** Whether a match may end at a position. */
export const mayEndAt = (form: RegexForm, at: number): boolean => form.slice(at).every(({ isOptional }) => isOptional)

/** The texts of characters that every match of a form has one behind the other, the longest first. */
export function textsIn(form: RegexForm, isText: (literal: string) => boolean): readonly string[] {
  let text = ''
  const texts: string[] = []
  for (const item of form) {
    const literal = literalOf(item.source)
    if (literal !== undefined && !item.isOptional && isText(literal)) {
      text += literal
      continue
    }
    texts.push(text)
    text = ''
  }
  return [...texts, text].filter((one) => one !== '').sort((one, other) => other.length - one.length)
}
