import { randomUUID } from 'node:crypto'
import type { Statement, ValueTable } from './statement.ts'

/** A Request is a statement as it is sent: everything lies in the body, which has no bound as an address has one. */
export type Request = { readonly body: string; readonly contentType: string }

/** FIELD_CHARS is how much of the text of a statement lies in one field: the store refuses 128 KiB, and puts the fields of a text together. */
const FIELD_CHARS = 32_768

/** requestOf writes a statement as a form: its text in one or more fields, its params, and its tables as files. */
export function requestOf({ text, params, tables }: Statement, format: string): Request {
  const boundary = `dendro-${randomUUID()}`
  const part = (name: string, content: string, file = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`
  const parts = piecesOf(`${text} format ${format}`).map((piece) => part('query', piece))
  for (const [name, value] of Object.entries(params)) parts.push(part(`param_${name}`, paramText(value)))
  for (const [name, table] of Object.entries(tables)) {
    parts.push(part(`${name}_structure`, `value ${table.type}`), part(`${name}_format`, 'TabSeparated'))
    parts.push(part(name, tableText(table), `; filename="${name}"`))
  }
  return { body: `${parts.join('')}--${boundary}--\r\n`, contentType: `multipart/form-data; boundary=${boundary}` }
}

function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += FIELD_CHARS) pieces.push(text.slice(at, at + FIELD_CHARS))
  return pieces
}

const tableText = ({ values }: ValueTable): string => values.map((value) => `${escaped(String(value))}\n`).join('')

/** paramText is a value as the store reads a param: escaped once, and in an array with quotes around texts. */
function paramText(value: string | readonly (string | number | bigint)[]): string {
  if (typeof value === 'string') return escaped(value)
  return `[${value.map((one) => (typeof one === 'string' ? `'${escaped(one)}'` : String(one))).join(',')}]`
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\0', '\\0'],
])

/** escaped is a text in the one line that a field or a row of a table has. */
const escaped = (text: string): string => text.replace(/[\\'\t\n\r\b\f\0]/g, (sign) => ESCAPES.get(sign) ?? sign)
