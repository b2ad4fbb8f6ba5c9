import { constant, type SqlFragment } from '../sql/sql.ts'

/** Matches all characters that any encoding escapes. Most values contain none of them. */
export const MAY_BE_ESCAPED = String.raw`'["\\\\<>&\x00-\x1f]|[^ -~]'`

/** What is escaped with digits: in every encoding, and only where a token names an encoding. */
const WITH_DIGITS = String.raw`'[\x00-\x08\x0b\x0c\x0e-\x1f]'`
const WITH_DIGITS_WHERE_NAMED = String.raw`'[<>&\x7f]|[^\x00-\x7f]'`

function makeEscaped(): string {
  const isNamed = String.raw`(endsWith(token, '\x03') or endsWith(token, '\x04'))`
  const hasDigits = `(match(value, ${WITH_DIGITS}) or (${isNamed} and match(value, ${WITH_DIGITS_WHERE_NAMED})))`
  return `if(${hasDigits}, ${byCharacter()}, ${byReplacement()})`
}

const REPLACED: readonly (readonly [sign: string, written: string])[] = [
  [String.raw`'\\'`, String.raw`'\\\\'`],
  [`'"'`, String.raw`'\\"'`],
  [String.raw`'\n'`, String.raw`'\\n'`],
  [String.raw`'\r'`, String.raw`'\\r'`],
  [String.raw`'\t'`, String.raw`'\\t'`],
]

/**
 * Escapes the SQL variable `value` inside JSON quotes, in the encoding that the end of `token` names, as `encodeText` does. Quotes, backslashes and breaks of
 * lines are replaced in the whole value; only one with other escapes is written character by character.
 */
export const ESCAPED: SqlFragment = constant(makeEscaped())

function byReplacement(): string {
  return REPLACED.reduce((text, [sign, written]) => `replaceAll(${text}, ${sign}, ${written})`, 'value')
}

function byCharacter(): string {
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
