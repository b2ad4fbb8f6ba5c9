import { toText } from '@dendro/api'
import { csvOf } from './csv.ts'
import { cutTo, escapeControls, escapeJson, padTo, widthOf } from './escape.ts'
import type { Terminal } from './terminal.ts'

export const formats = ['table', 'json', 'ndjson', 'csv'] as const
export type Format = (typeof formats)[number]

type Row = Readonly<Record<string, unknown>>

/** Prints a response: as a table, as JSON, as one JSON text per row, or as CSV. The next page of a list is a message, since it is no row. */
export function show(answer: unknown, format: Format, terminal: Terminal): void {
  for (const line of linesOf(answer, format, terminal.columns)) terminal.out(line)
  const next = isRow(answer) && format !== 'json' ? answer[NEXT_PAGE] : undefined
  if (typeof next === 'string') terminal.err(`there are more: --cursor ${next}`)
}

const NEXT_PAGE = 'next_cursor'

/** Prints rows as a table without cutting cells; the last column ends at the width of the terminal. */
export function showTable(rows: readonly unknown[], { columns, out }: Terminal): void {
  for (const line of tableOf(rows, undefined, Number.POSITIVE_INFINITY)) out(columns === undefined ? line : cutTo(line, columns))
}

function linesOf(answer: unknown, format: Format, columns: number | undefined): string[] {
  if (answer === undefined) return []
  if (typeof answer === 'string')
    return [format === 'table' || columns !== undefined ? escapeControls(answer, 'lines') : answer.replace(/\n$/, '')]
  if (format === 'json') return [toJson(answer, 2)]
  const rows = rowsOf(answer)
  if (format === 'ndjson') return (rows ?? [answer]).map((row) => toJson(row))
  if (format === 'csv') {
    const lines = csvOf((rows ? unfolded(rows) : [answer]).map((row) => (isRow(row) ? row : { value: row })))
    return columns === undefined ? lines : lines.map((line) => escapeControls(line))
  }
  return rows ? tableOf(unfolded(rows), columns) : recordWithLists(answer, columns)
}

/** Finds the rows of a list: a bare array, or the only member of the response beside the place of its next page. */
export function rowsOf(answer: unknown): readonly unknown[] | undefined {
  if (Array.isArray(answer)) return answer
  if (!isRow(answer)) return undefined
  const members = Object.entries(answer).filter(([name]) => name !== NEXT_PAGE)
  const list = members[0]?.[1]
  return members.length === 1 && Array.isArray(list) ? list : undefined
}

/** Flattens lists within rows: `{shop: [{dataset}]}` becomes `{in: 'shop', dataset}`. */
function unfolded(rows: readonly unknown[]): readonly unknown[] {
  const inner = rows.map((row) => (isRow(row) ? Object.entries(row) : []))
  if (!inner.every((members) => members.length === 1 && Array.isArray(members[0]?.[1]))) return rows
  return inner.flatMap(([member]) => {
    const [name, list] = member ?? ['', []]
    return (list as unknown[]).map((row) => ({ in: name, ...(isRow(row) ? row : { value: row }) }))
  })
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** HIDDEN members are not in tables, to save space; --output json has them. */
const HIDDEN = new Set(['metadata'])
const CELL_CHARS_MAX = 60
const GAP = '  '

function tableOf(rows: readonly unknown[], columns: number | undefined, cellCharsMax = CELL_CHARS_MAX): string[] {
  if (rows.length === 0) return ['(none)']
  const records = rows.map((row) => (isRow(row) ? row : { value: row }))
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))].filter((name) => !HIDDEN.has(name))
  const cells = records.map((record) => names.map((name) => cutTo(cellOf(name, record[name]), cellCharsMax)))
  const titles = names.map((name) => escapeControls(name))
  const isTwin = (at: number) =>
    (names[at] === 'id' && at > 0 && cells.every((row) => row[at] === row[0])) ||
    (names[at] === 'org_id' && names.length > 1 && cells.every((row) => row[at] === cells[0]?.[at]))
  const filled = names.map((_, at) => at).filter((at) => cells.some((row) => row[at] !== '') && !isTwin(at))
  const widths = filled.map((at) => Math.max(widthOf(titles[at] ?? ''), ...cells.map((row) => widthOf(row[at] ?? ''))))
  const shown = shownColumns(
    filled.map((at, index) => ({ name: names[at] ?? '', at, width: widths[index] ?? 0 })),
    columns,
  )
  const line = (row: readonly string[]) =>
    shown
      .map(({ at, width }) => padTo(cutTo(row[at] ?? '', width), width))
      .join(GAP)
      .trimEnd()
  const left = filled.filter((at) => !shown.some((column) => column.at === at)).map((at) => titles[at])
  const note = left.length > 0 ? [`(not shown for width: ${left.join(', ')}; --output json has everything)`] : []
  return [line(titles.map((title) => title.toUpperCase())), ...cells.map(line), ...note]
}

type Column = { readonly name: string; readonly at: number; readonly width: number }

const isId = ({ name }: Column): boolean => /(^|_)id$/.test(name)

/** A column that is wider than what is left of the line is cut to that, unless less than this is left. Ids are never cut. */
const CUT_MIN = 12

/** The columns that are shown: the leftmost ones that fit the width. Where an id leaves no place for others, they are shown in its place. */
function shownColumns(all: readonly Column[], columns: number | undefined): readonly Column[] {
  if (columns === undefined) return all
  const shown = fitting(all, columns)
  const [first] = shown
  if (shown.length === 1 && all.length > 1 && first && isId(first)) return fitting(all.slice(1), columns)
  return shown
}

function fitting(all: readonly Column[], columns: number): readonly Column[] {
  let used = 0
  return all.flatMap((column, index) => {
    const left = columns - used - (index === 0 ? 0 : GAP.length)
    const width = column.width > left && left >= CUT_MIN && !isId(column) ? left : column.width
    if (width > left && index > 0) return []
    used = columns - left + width
    return [{ ...column, width }]
  })
}

/** A record, and below it each list that is too long for a cell as a table of its own. */
function recordWithLists(answer: unknown, columns: number | undefined): string[] {
  if (!isRow(answer)) return recordOf(answer)
  const isOnlyLists = Object.values(answer).every((value) => Array.isArray(value))
  const lists = Object.entries(answer).flatMap(([name, value]) =>
    !HIDDEN.has(name) && Array.isArray(value) && value.every(isRow) && (isOnlyLists || listCell(value) === countOf(value))
      ? [{ name, rows: value }]
      : [],
  )
  const left = Object.fromEntries(Object.entries(answer).filter(([name]) => !lists.some((list) => list.name === name)))
  const tables = lists.flatMap(({ name, rows }) => ['', `${name} (${rows.length})`, ...tableOf(rows, columns)])
  return Object.keys(left).length === 0 && lists.length > 0 ? tables.slice(1) : [...recordOf(left), ...tables]
}

function recordOf(answer: unknown): string[] {
  if (!isRow(answer)) return [cellOf('', answer)]
  const names = Object.keys(answer).filter((name) => !HIDDEN.has(name))
  if (names.length === 0) return ['(done)']
  const width = Math.max(...names.map((name) => name.length))
  return names.map((name) => `${name.padEnd(width)}${GAP}${cellOf(name, answer[name])}`)
}

const MS_FROM = 100_000_000_000

/** Formats a value: times as dates, maps as key=value, lists with commas. */
function cellOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' && /(_at|_ts|_until|^time)$/.test(name) && value > 0) {
    const at = new Date(value < MS_FROM ? value * 1000 : value)
    return Number.isNaN(at.getTime())
      ? String(value)
      : at
          .toISOString()
          .replace('T', ' ')
          .replace(/\.\d+Z$/, 'Z')
  }
  if (Array.isArray(value)) return listCell(value)
  if (isRow(value)) return escapeControls(isFlat(value) ? pairsOf(value) : toJson(value))
  return escapeControls(String(value))
}

const isFlat = (row: Row): boolean => Object.values(row).every((inner) => typeof inner !== 'object')
const pairsOf = (row: Row): string =>
  Object.entries(row)
    .map(([key, inner]) => `${key}=${inner}`)
    .join(' ')

/** Prints a short list, or the number of its items. */
function listCell(items: readonly unknown[]): string {
  if (items.every((item) => !isRow(item))) return items.map((item) => cellOf('', item)).join(', ')
  const text = items.every((item) => isRow(item) && isFlat(item)) ? items.map((item) => pairsOf(item as Row)).join('; ') : ''
  return text !== '' && text.length <= CELL_CHARS_MAX ? escapeControls(text) : countOf(items)
}

const countOf = (items: readonly unknown[]): string => `${items.length} item${items.length === 1 ? '' : 's'}`

/** Writes integers beyond 2^53 exactly, and control characters as escapes. */
export const toJson = (value: unknown, indent?: number): string => escapeJson(toText(value, indent))
