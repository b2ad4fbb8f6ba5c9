import { isIndex } from '../../query/element.ts'
import { constant, digits, joined, or, param, type SqlFragment, sql, using } from '../sql/sql.ts'

/** Where a text may be: it is stored as such, or it is a value in an array. A path begins with an index. */
export type TextSource = { readonly text: SqlFragment } | ValueInArray
type ValueInArray = { readonly array: SqlFragment; readonly path: readonly string[] }

/**
 * The first text that some sources have, '' for none; of a value in an array it is what `elementOf` returns. The functions of the store for JSON find
 * the value in nearly all arrays, and fast. They rewrite numbers and blanks, refuse what is no exact JSON and read the first of repeated names, so
 * other arrays are divided into tokens.
 */
export function firstText(sources: readonly TextSource[]): SqlFragment {
  const texts = sources.map((source) => ('text' in source ? sql`toString(${source.text})` : textByJson(source)))
  const [only] = sources
  if (only && 'array' in only && sources.length === 1)
    return sql`if(${textByJson(only)} = ${UNDECIDED}, ${dividedText(only)}, ${textByJson(only)})`
  const starts = sources.map((source) => ('text' in source ? sql`('', '')` : startOf(source)))
  const steps = Math.max(...sources.map((source) => ('text' in source ? 0 : source.path.length)))
  return sql`arrayMap(texts -> arrayFirst(text -> text != '', if(has(texts, ${UNDECIDED}), arrayMap((text, start) -> if(text = ${UNDECIDED},
    ${lastValue(sql`start`, steps)}, text), texts, cast([${joined(starts)}], 'Array(Tuple(String, String))')), texts)), [[${joined(texts)}]])[1]`
}

/** `found` is a text without its quotes and escapes, and any other value as the store writes it. */
type FoundValue = ValueInArray & { readonly found: SqlFragment }

const UNDECIDED = constant(String.raw`'\0\0'`)

/** The first condition holds for most texts. It begins with the value, which is then computed once. */
function textByJson({ array, path }: ValueInArray): SqlFragment {
  const found = sql`JSONExtractString(${array}, ${stepsOf(path)})`
  const value = { array, path, found }
  const isIrregular = or(irregularities(value))
  const isText = sql`not match(${found}, '^(?:[\\\\[{]|true$|false$)') and position(${found}, '\\0') = 0`
  const type = sql`JSONType(${array}, ${stepsOf(path)})`
  const text = sql`multiIf(
    ${found} > ':' and startsWith(${array}, '[') and not ${isIrregular} and ${isText}, toString(${found}),
    not startsWith(${array}, '['), '',
    ${isIrregular}, ${UNDECIDED},
    ${found} = '', multiIf(${type} = 'String', '\\0', isValidJSON(${array}), '', ${UNDECIDED}),
    ${type} = 'String', ifNull(nullIf(replaceAll(${found}, '\\0', ''), ''), '\\0'),
    ${type} = 'Int64', if(${found} = '0' and position(${array}, '-0') > 0, ${UNDECIDED}, ${found}),
    ${type} in ('Bool', 'UInt64'), ${found},
    ${type} = 'Double', ${onlySpelling(value)},
    JSONExtractRaw(${array}) = ${array}, ${found}, ${UNDECIDED})`
  return using('costlyValue', text)
}

/** The steps of a path for the store, which counts elements from 1. Numbers are indexes, where there is an array. */
const stepsOf = (path: readonly string[]): SqlFragment =>
  joined(path.map((name) => (isIndex(name) ? digits(Number(name) + 1) : sql`${param.text(name)}`)))

/** Conditions that hold where the functions for JSON may read another value than `elementOf`. */
function irregularities({ array, path }: FoundValue): readonly SqlFragment[] {
  const names = path.slice(1)
  const pairs = names.slice(1).map((name, at) => `${names[at]}.${name}`)
  return [
    // A name with escapes, and names that are stored with other characters.
    ...(names.length === 0 ? [] : [sql`(position(${array}, '\\\\') > 0 and match(${array}, ${NAME_WITH_ESCAPE}))`]),
    ...(names.some((name) => name.includes('_')) ? [sql`position(${array}, '\\x7f') > 0`, sql`position(${array}, '\\xc2') > 0`] : []),
    ...(names.includes('_') ? [sql`position(${array}, '""') > 0`] : []),
    // A name with dots.
    ...(pairs.length === 0 ? [] : [sql`multiSearchAny(${array}, ${param.texts(pairs)})`]),
    ...names.flatMap((name, at) => {
      const [text, quoted] = [param.text(name), param.text(`"${name}"`)]
      const object = stepsOf(path.slice(0, at + 1))
      const isRepeated = sql`(countSubstrings(${array}, ${quoted}) > 1 and countEqual(JSONExtractKeys(${array}, ${object}), ${text}) > 1)`
      // The store counts the members of an object, too.
      return isIndex(name) ? [isRepeated, sql`JSONType(${array}, ${object}) != 'Array'`] : [isRepeated]
    }),
  ]
}

const NAME_WITH_ESCAPE = constant(String.raw`'(?s)\\\\.(?:[^"\\\\]|\\\\.)*"[ \\t\\r\\n]*:'`)

/** A number with a point or an exponent as it is written, if the array has it in one spelling only. */
const onlySpelling = ({ array, found }: FoundValue): SqlFragment =>
  sql`arrayMap(texts -> if(length(texts) = 1, texts[1], ${UNDECIDED}), [arrayDistinct(arrayMap((number, texts) ->
    arrayFilter(text -> toFloat64OrNull(text) = number, texts), [toFloat64OrNull(${found})], [extractAll(${array}, '-?[0-9]+[.eE][0-9.eE+-]*')])[1])])[1]`

/** Divides an array into tokens to find a value. */
function dividedText(value: ValueInArray): SqlFragment {
  const [index = '', ...names] = value.path
  if (names.length === 0) return textOfWritten(sql`${piecesOf(value.array)}[${digits(Number(index) + 1)}]`)
  return sql`arrayMap(start -> ${lastValue(sql`start`, value.path.length)}, [cast(${startOf(value)}, 'Tuple(String, String)')])[1]`
}

const startOf = ({ array, path }: ValueInArray): SqlFragment => sql`(${array}, ${param.text(path.map((name) => `.${name}`).join(''))})`

/** Follows a path to all values that it may mean, and takes the last. A value is written with the rest of its path. */
function lastValue(start: SqlFragment, steps: number): SqlFragment {
  const values = sql`arrayFold((values, step) -> arrayFlatten(arrayMap(value -> ${NEXT_VALUES}, values)), range(${digits(steps)}), [${start}])`
  return textOfWritten(sql`arrayFilter(value -> value.2 = '' and value.1 != '', ${values})[-1].1`)
}

const textOfWritten = (written: SqlFragment): SqlFragment => sql`arrayMap(written -> ${TEXT_OF_WRITTEN}, [${written}])[1]`

/** Preparing a value of an array takes the store as long as a much longer text of other kinds. */
const PIECE: SqlFragment = using('arrayElement', constant('substring(arrayStringConcat(piece), 2)'))

const BLANKS = String.raw`[ \\t\\r\\n]*`
const QUOTED = String.raw`"(?:[^"\\\\]|\\\\.)*"`
const TOKEN = constant(String.raw`'(?s)${QUOTED}?|[\\[\\]{},:]|[ \\t\\r\\n]+|[^ \\t\\r\\n",:\\[\\]{}]+'`)

/** Divides what stands in the brackets of a container at its commas. There are no pieces unless the container ends with the bracket that closes it. */
function piecesOf(container: SqlFragment): SqlFragment {
  return sql`arrayMap(tokens -> arrayMap((tokens, depths) -> if(indexOf(depths, 0) != length(depths), [],
      arrayMap(piece -> trimBoth(${PIECE}, ' \\t\\r\\n'),
        arrayPopBack(arraySplit((token, depth) -> depth = 0 or (depth = 1 and token = ','), tokens, depths)))),
    [tokens], [arrayCumSum(token -> (position('[{', token) > 0) - (position(']}', token) > 0), tokens)])[1], [extractAll(${container}, ${TOKEN})])[1]`
}

/** The name of a member as names of keys are stored; '' without a colon or with an invalid escape. */
const NAME = String.raw`arrayMap(quoted -> if(quoted = '""', '_', replaceRegexpAll(JSONExtractString(concat('[', quoted, ']'), 1), '[\\x00-\\x1f\\x7f-\\x{9f}\\\\]', '_')),
  [extract(piece, '(?s)^(${QUOTED})${BLANKS}:')])[1]`
const BEFORE_VALUE = `'(?s)^${QUOTED}${BLANKS}:${BLANKS}'`

/** The values behind the next name of a path. Elements have their numbers as names. */
const NEXT_VALUES: SqlFragment = sql`if(value.2 = '', [value], arrayFilter(next -> next.2 != '!', arrayMap((pieces, isObject) ->
  arrayMap((piece, nth) -> arrayMap(name -> (
      if(isObject, replaceRegexpOne(piece, ${constant(BEFORE_VALUE)}, ''), piece),
      if(name != '' and startsWith(concat(value.2, '.'), concat('.', name, '.')), substring(value.2, length(name) + 2), '!')),
    [multiIf(isObject, ${constant(NAME)}, nth <= 32, toString(nth - 1), '')])[1], pieces, arrayEnumerate(pieces)),
  [${piecesOf(sql`value.1`)}], [startsWith(value.1, '{')])[1]))`

/** Replaces single halves of characters beyond U+FFFF, which the store refuses. Control characters stand for backslashes meanwhile. */
const REPAIRED = String.raw`if(match(written, '[\\x00-\\x1f]'), '', replaceAll(replaceAll(replaceRegexpAll(replaceRegexpAll(replaceAll(written, '\\\\', '\x01'),
  '\\\\u([dD][89abAB][0-9a-fA-F]{2})\\\\u([dD][c-fC-F][0-9a-fA-F]{2})', '\x02u\\1\x02u\\2'), '\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\xef\xbf\xbd'), '\x02', '\\'), '\x01', '\\\\'))`

const TEXT_OF_WRITTEN = constant(String.raw`multiIf(
  written = '""', '\0',
  startsWith(written, '"'), arrayMap(text -> if(text = '\0', text, replaceAll(text, '\0', '')), [JSONExtractString(concat('[', ${REPAIRED}, ']'), 1)])[1],
  written = 'null', '',
  match(written, '(?s)^(?:[\\[{].*[\\]}]|[^ \\t\\r\\n",:\\[\\]{}]+)$'), written, '')`)
