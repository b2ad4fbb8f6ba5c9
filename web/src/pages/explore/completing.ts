import { compact } from '../../parts/numbers.ts'
import { keyText, valueText } from './clauses.ts'
import type { Field } from './questions.ts'

/** A Completion replaces the text from `from` to `to` by `insert`. */
export type Completion = { label: string; insert: string; note: string; from: number; to: number }

const OFFERS_MAX = 12
const operators = [
  ['=', 'is'],
  ['!=', 'is not, and is there'],
  ['>', 'more than'],
  ['>=', ''],
  ['<', 'less than'],
  ['<=', ''],
  ['LIKE', 'with % and _'],
  ['ILIKE', 'whatever the case'],
  ['IN', 'one of'],
  ['BETWEEN', 'from AND to'],
  ['REGEXP', 'matches'],
  ['IS NULL', 'is absent'],
  ['IS NOT NULL', 'is there'],
] as const
const builtIns = ['@status', '@raw', '@time', '@origin', '@pattern']
const KEY = String.raw`(?:"(?:[^"]|"")*"|[@$]?[\p{L}_][\p{L}\d_.-]*)`
const valuePlace = new RegExp(String.raw`(${KEY})\s*(?:=|!=|<>)\s*('[^']*|[^\s'"(),]*)$`, 'u')
const operatorPlace = new RegExp(String.raw`(?:^|\bAND\s|\bOR\s|\bNOT\s|\()\s*(${KEY})\s+([A-Za-z!=<>~]*)$`, 'iu')
const keyPlace = /(?:^|\bAND\s|\bOR\s|\bNOT\s|\()\s*("?[@$]?[\p{L}_]?[\p{L}\d_.-]*)$/iu

/** completionsAt offers what can stand at the cursor: keys with how often they occur, operators, values that were seen. */
export function completionsAt(text: string, cursor: number, fields: readonly Field[]): Completion[] {
  const before = text.slice(0, cursor)
  const value = valuePlace.exec(before)
  if (value) return values(value[1] ?? '', value[2] ?? '', cursor, fields)
  const operator = operatorPlace.exec(before)
  if (operator) {
    const typed = operator[2] ?? ''
    const from = cursor - typed.length
    return operators
      .filter(([sign]) => sign.startsWith(typed.toUpperCase()) && sign !== typed)
      .map(([sign, note]) => ({ label: sign, insert: `${sign} `, note, from, to: cursor }))
  }
  const key = keyPlace.exec(before)
  return key ? keys((key[1] ?? '').replace(/^"/, ''), cursor - (key[1] ?? '').length, cursor, fields) : []
}

function keys(typed: string, from: number, to: number, fields: readonly Field[]): Completion[] {
  const low = typed.toLowerCase()
  const all = [
    ...fields.map(({ name, count }) => ({ name, note: compact(count) })),
    ...builtIns.map((name) => ({ name, note: 'built in' })),
  ]
  const found = all.filter(({ name }) => name.toLowerCase().includes(low))
  // What begins with the typed letters goes first; within that the most frequent.
  const ranked = [
    ...found.filter(({ name }) => name.toLowerCase().startsWith(low)),
    ...found.filter(({ name }) => !name.toLowerCase().startsWith(low)),
  ]
  return ranked.slice(0, OFFERS_MAX).map(({ name, note }) => ({ label: name, insert: `${keyText(name)} `, note, from, to }))
}

function values(key: string, typed: string, cursor: number, fields: readonly Field[]): Completion[] {
  const name = key.startsWith('"') ? key.slice(1, -1).replaceAll('""', '"') : key
  const known =
    name === '@status'
      ? ['error', 'warn', 'info'].map((value) => ({ value, count: 0 }))
      : (fields.find((field) => field.name === name)?.values ?? [])
  const low = typed.replace(/^'/, '').toLowerCase()
  return known
    .filter(({ value }) => value.toLowerCase().startsWith(low) && value !== '')
    .slice(0, OFFERS_MAX)
    .map(({ value, count }) => ({
      label: value,
      insert: `${/^-?\d+(\.\d+)?$/.test(value) ? value : valueText(value)} `,
      note: count === 0 ? '' : compact(count),
      from: cursor - typed.length,
      to: cursor,
    }))
}
