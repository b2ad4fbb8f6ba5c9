import { randomUUID } from 'node:crypto'
import type { BoundStatement, ValueTable } from './sql.ts'

/** The HTTP body of a statement. Everything is in the body, because the length of a URL is limited. */
export type StatementBody = { readonly body: string; readonly contentType: string }

/** The size of the form fields for the statement text. The store refuses fields of 128 KiB and concatenates those of one name. */
const FIELD_CHARS = 32_768

/** Encodes a statement as a form: its text in one or more fields, its parameters, and its tables as files. */
export function encodeStatement({ text, params, tables }: BoundStatement, format: string): StatementBody {
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

/** A parameter in the format of the store: escaped once, and in an array with quotes around texts. */
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

/** Escapes a text so that it fits in one line. */
const escaped = (text: string): string => text.replace(/[\\'\t\n\r\b\f\0]/g, (sign) => ESCAPES.get(sign) ?? sign)
