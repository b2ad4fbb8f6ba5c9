import { toText } from '@dendro/api'
import { escapeControls } from './escape.ts'
import type { Terminal } from './terminal.ts'

/** Writes rows as CSV (RFC 4180) with a header line. A cell that begins like a formula gets a quote mark, so that spreadsheets do not evaluate it. */
export function csvOf(rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[] = columnsOf(rows)): string[] {
  return [csvLine(columns), ...rows.map((row) => csvLine(columns.map((name) => row[name])))]
}

const columnsOf = (rows: readonly object[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))]

export const csvLine = (cells: readonly unknown[]): string => cells.map((cell) => quoted(withoutFormula(textOf(cell)))).join(',')

/** A line of CSV with its end. On a terminal, control characters of the data are escaped. */
export const csvText = (line: string, { columns }: Pick<Terminal, 'columns'>): string =>
  `${columns === undefined ? line : escapeControls(line)}\r\n`

const textOf = (cell: unknown): string =>
  cell === undefined || cell === null ? '' : typeof cell === 'object' ? toText(cell) : String(cell)

const withoutFormula = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) && !/^@\w+$/.test(text) ? `'${text}` : text

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
