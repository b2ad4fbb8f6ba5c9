import type { Slot } from '../events/shred/slots.ts'
import { timeText } from './event-time.ts'
import { readable } from './key-text.ts'
import { constant, joined, name, param, type Sql, sql } from './statement.ts'

/**
 * Lines is what has to be known of a branch to put lines together in the store: the columns with values, and the keys that lie beside the columns,
 * for each shape of JSON that has such keys, in their order; such a shape has no names for them that the store could read.
 */
export type Lines = { readonly columns: readonly Slot[]; readonly beside: readonly Beside[] }
export type Beside = { readonly shape: string; readonly paths: readonly string[] }

/** IS_JSON tells the shapes of JSON from those of lines of text. */
export const IS_JSON: Sql = constant(String.raw`match(shape, '^[ \t\r\n]*\\{')`)
const BESIDE_JOINT = '\x01'

/**
 * rawLine is the line of an event as it was received: the column when it holds the line, else put together as `rebuild` does. It is slow, since the
 * shape is taken apart for every event.
 */
export function rawLine({ columns, beside }: Lines): Sql {
  const tokens = sql`if(${IS_JSON}, extractAll(shape, '\\x01[^\\x02]*\\x02[\\x03\\x04]?|[^\\x01]+'), extractAll(shape, '\\x01[^\\x02]*\\x02|[^\\x01]+'))`
  const pathsBeside =
    beside.length === 0
      ? sql`emptyArrayString()`
      : sql`splitByChar('\\x01', ${param.texts(beside.map(({ paths }) => paths.join(BESIDE_JOINT)))}[indexOf(${param.texts(beside.map(({ shape }) => shape))}, toString(shape))])`
  const besideBefore = sql`arrayCumSum(token -> startsWith(token, '\\x01m'), ${tokens})`
  const values = sql`arrayMap((token, nth) -> multiIf(
    not startsWith(token, '\\x01'), token,
    startsWith(token, '\\x01c'), ${slotText(columns, 'c')},
    startsWith(token, '\\x01s'), ${slotText(columns, 's')},
    startsWith(token, '\\x01m'), more[if(${IS_JSON}, ${pathsBeside}[nth], extract(token, '^\\x01m([^\\x02]*)'))],
    startsWith(token, '\\x01t'), ${timeText},
    raw), ${tokens}, ${besideBefore})`
  const written = sql`arrayMap((token, before, value) -> if(
    not startsWith(token, '\\x01') or not endsWith(before, '"') or not ${IS_JSON} or not match(value, ${constant(MAY_BE_ESCAPED)}),
    ${readable(sql`value`)}, ${ESCAPED}), ${tokens}, arrayPushFront(arrayPopBack(${tokens}), ''), ${values})`
  return sql`if(shape = '', raw, arrayStringConcat(${written}))`
}

/** slotText picks a column by the number that a reference has. */
function slotText(columns: readonly Slot[], kind: 'c' | 's'): Sql {
  const own = columns.filter((column) => column.startsWith(kind))
  const most = Math.max(-1, ...own.map((column) => Number(column.slice(1))))
  const all = Array.from({ length: most + 1 }, (_, index): Slot => `${kind}${index}`)
  if (all.length === 0) return sql`''`
  const texts = all.map((column) => (own.includes(column) ? sql`toString(${name(column)})` : sql`''`))
  return sql`[${joined(texts)}][toUInt16OrZero(substring(token, 3, length(token) - 3 - toUInt8(match(token, '[\\x03\\x04]$')))) + 1]`
}

/** MAY_BE_ESCAPED finds all that some encoding escapes; most values have none of it. */
const MAY_BE_ESCAPED = String.raw`'["\\\\<>&\x00-\x1f]|[^ -~]'`

/** ESCAPED writes a value between quotes of JSON in the encoding that its token names, as `encodeText` does, sign by sign. */
const ESCAPED: Sql = constant(makeEscaped())

function makeEscaped(): string {
  const byte = (at: number) => `toUInt32(reinterpretAsUInt8(substring(sign, ${at}, 1)))`
  const six = (at: number) => `bitAnd(${byte(at)}, 63)`
  const code = `multiIf(length(sign) = 1, ${byte(1)}, length(sign) = 2, bitAnd(${byte(1)}, 31) * 64 + ${six(2)},
    length(sign) = 3, bitAnd(${byte(1)}, 15) * 4096 + ${six(2)} * 64 + ${six(3)},
    bitAnd(${byte(1)}, 7) * 262144 + ${six(2)} * 4096 + ${six(3)} * 64 + ${six(4)})`
  const unit = (value: string) => String.raw`concat('\\u', lower(leftPad(hex(toUInt16(${value})), 4, '0')))`
  const pair = `concat(${unit('55296 + intDiv(code - 65536, 1024)')}, ${unit('56320 + (code - 65536) % 1024')})`
  const [signs, short] = [
    String.raw`['\\', '"', '\b', '\f', '\n', '\r', '\t']`,
    String.raw`['\\\\', '\\"', '\\b', '\\f', '\\n', '\\r', '\\t']`,
  ]
  const isLong = `code < 32 or (endsWith(token, '\\x03') and (code > 126)) or (endsWith(token, '\\x04') and code in (38, 60, 62, 8232, 8233))`
  return `arrayStringConcat(arrayMap((sign, code) -> multiIf(
    indexOf(${signs}, sign) > 0, ${short}[indexOf(${signs}, sign)], not (${isLong}), sign, code < 65536, ${unit('code')}, ${pair}),
    extractAll(if(value = '\\0', '', value), '(?s).'), arrayMap(sign -> toInt64(${code}), extractAll(if(value = '\\0', '', value), '(?s).'))))`
}
