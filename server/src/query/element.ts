const INDEX = /^(?:\d|[12]\d|3[01])$/
/** How many indexes of a key may begin in an array of the event. */
const INDEXES_MAX = 4

/** A key as a value in an array: the path of the array, and the path in it, which begins with an index. */
export type ElementPath = { readonly array: string; readonly path: readonly string[] }

/** The ways to read a key such as `a.0.b.1.c` as a value in an array, the longest path of an array first. */
export function elementPaths(key: string): readonly ElementPath[] {
  const names = key.split('.')
  const indexes = names.flatMap((name, at) => (isIndex(name) && names.slice(0, at).join('.') !== '' ? [at] : []))
  return indexes
    .slice(-INDEXES_MAX)
    .reverse()
    .map((at) => ({ array: names.slice(0, at).join('.'), path: names.slice(at) }))
}

/** Returns the first of these values that an event has. */
export function valueInArrays(leaves: Pick<ReadonlyMap<string, string>, 'get'>, paths: readonly ElementPath[]): string | undefined {
  for (const { array, path } of paths) {
    const text = elementOf(leaves.get(array) ?? '', path)
    if (text !== undefined) return text
  }
  return undefined
}

export const isIndex = (name: string): boolean => INDEX.test(name)

/**
 * Returns the text of a value in a JSON array: of an element, or of a member of an object in it. Undefined when the text is not an array, or
 * the value is missing or null. Names and repeated names count as in a line: names with dots are those of nested objects, and the last value wins.
 */
export function elementOf(array: string, path: readonly string[]): string | undefined {
  const written = array.startsWith('[') ? valueAt(array, path.map((name) => `.${name}`).join('')) : undefined
  return written === undefined ? undefined : textOf(written)
}

/** Returns a value inside another as written. Each name in the path begins with a dot. Elements have their numbers as names. */
function valueAt(value: string, path: string): string | undefined {
  if (path === '') return value === '' ? undefined : value
  const members = value.startsWith('{') ? piecesOf(value).map(memberIn) : piecesOf(value).slice(0, ELEMENTS_MAX).map(elementIn)
  let found: string | undefined
  for (const member of members) {
    if (member && `${path}.`.startsWith(`.${member.name}.`)) found = valueAt(member.value, path.slice(member.name.length + 1)) ?? found
  }
  return found
}

type Member = { readonly name: string; readonly value: string }

const ELEMENTS_MAX = 32
const elementIn = (value: string, index: number): Member => ({ name: String(index), value })

const COLON = /[ \t\r\n]*:[ \t\r\n]*/y
/** A number, a word, or what stands in brackets. */
const UNQUOTED = /^(?:[[{].*[\]}]|[^ \t\r\n",:[\]{}]+)$/s

/** Returns the name of a member, as names of keys are stored, and its value as written. */
function memberIn(piece: string): Member | undefined {
  const end = piece.startsWith('"') ? endOfText(piece, 0) + 1 : 0
  COLON.lastIndex = end
  const colon = end === 0 ? undefined : COLON.exec(piece)?.[0]
  const name = colon === undefined ? undefined : decoded(piece.slice(0, end))
  if (colon === undefined || name === undefined || !name.isWellFormed()) return undefined
  return { name: name.replace(/[\p{Cc}\\]/gu, '_') || '_', value: piece.slice(end + colon.length) }
}

function textOf(written: string): string | undefined {
  if (written.startsWith('"')) return decoded(written)?.replaceAll('\0', '').toWellFormed()
  return written !== 'null' && UNQUOTED.test(written) ? written : undefined
}

function decoded(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return undefined
  }
}

/** Divides what stands in the brackets of a container at its commas. There are no pieces unless the container ends with the bracket that closes it. */
function piecesOf(container: string): string[] {
  if (!/^[[{]/.test(container)) return []
  const pieces: string[] = []
  let [depth, start] = [0, 1]
  for (let at = 0; at < container.length; at += 1) {
    const mark = container[at]
    if (mark === '"') at = endOfText(container, at)
    else if (mark === '[' || mark === '{') depth += 1
    else if (mark === ']' || mark === '}') depth -= 1
    if (depth === 0) return at === container.length - 1 ? [...pieces, withoutBlanks(container, start, at)] : []
    if (mark === ',' && depth === 1) {
      pieces.push(withoutBlanks(container, start, at))
      start = at + 1
    }
  }
  return []
}

function withoutBlanks(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && isBlank(text[start])) start += 1
  while (start < end && isBlank(text[end - 1])) end -= 1
  return text.slice(start, end)
}

const isBlank = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\r' || char === '\n'

/** Returns the position of the closing quote. */
function endOfText(text: string, open: number): number {
  let at = open + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
