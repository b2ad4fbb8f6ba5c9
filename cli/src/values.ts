import { branchesOf, fromText, type JsonSchema, propertiesOf, resolveShape } from '@dendro/api'
import { UsageError } from './failure.ts'

export type ComponentSchemas = Readonly<Record<string, JsonSchema>>

/** How the words after an option become a value. */
export type OptionKind =
  | { kind: 'text'; words?: readonly string[] }
  | { kind: 'number' | 'boolean' | 'json' }
  | { kind: 'list'; item: OptionKind }
  | { kind: 'map' }

/** Derives how users write a value of this schema on a command line. */
export function kindOf(schema: JsonSchema, schemas: ComponentSchemas): OptionKind {
  const shape = resolveShape(schema, schemas)
  const branches = branchesOf(shape)
  if (branches.length > 0) {
    const kinds = branches.map((branch) => kindOf(branch, schemas)).filter((kind) => kind.kind !== 'json')
    const [first] = kinds
    const isOne =
      kinds.length === branches.filter((branch) => branch.type !== 'null').length && kinds.every((kind) => kind.kind === first?.kind)
    return isOne && first ? first : { kind: 'json' }
  }
  switch (shape.type) {
    case 'string':
      return Array.isArray(shape.enum) ? { kind: 'text', words: shape.enum.map(String) } : { kind: 'text' }
    case 'integer':
    case 'number':
      return { kind: 'number' }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      return { kind: 'list', item: kindOf((shape.items ?? {}) as JsonSchema, schemas) }
    case 'object': {
      const values = shape.additionalProperties
      const isMap = propertiesOf(shape).length === 0 && typeof values === 'object' && values !== null
      return isMap && kindOf(values as JsonSchema, schemas).kind === 'text' ? { kind: 'map' } : { kind: 'json' }
    }
    default:
      return { kind: 'json' }
  }
}

/** The placeholder of the value in a help text. */
export function metavar(kind: OptionKind): string {
  switch (kind.kind) {
    case 'text':
      return '<text>'
    case 'number':
      return '<number>'
    case 'boolean':
      return ''
    case 'list':
      return kind.item.kind === 'json' ? '<json>' : kind.item.kind === 'number' ? '<number>' : '<text>'
    case 'map':
      return '<key=value>'
    case 'json':
      return '<json>'
  }
}

/** True when an option may be given more than once. */
export const repeats = (kind: OptionKind): boolean => kind.kind === 'list' || kind.kind === 'map'

/** Converts the words of an option into its value; `null` clears the field if the schema is nullable. */
export function readValue(flag: string, kind: OptionKind, words: readonly string[]): unknown {
  const last = words.at(-1) ?? ''
  switch (kind.kind) {
    case 'text':
      return last
    case 'number':
      return readNumber(flag, last)
    case 'boolean':
      return last === 'true'
    case 'json':
      return readJson(flag, last)
    case 'list':
      return words.flatMap((word) => (word.startsWith('[') ? readList(flag, word) : [readValue(flag, kind.item, [word])]))
    case 'map':
      return Object.assign({}, ...words.map((word) => readPairs(flag, word)))
  }
}

function readNumber(flag: string, word: string): number | bigint {
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(word)) throw new UsageError(`${flag} takes a number, not ${word || 'nothing'}`)
  const number = Number(word)
  return /^-?\d+$/.test(word) && !Number.isSafeInteger(number) ? BigInt(word) : number
}

/** Parses JSON with exact integers. */
export function readJson(flag: string, text: string): unknown {
  try {
    return fromText(text)
  } catch (cause) {
    throw new UsageError(`${flag} takes JSON: ${cause instanceof Error ? cause.message : 'unreadable'}`)
  }
}

function readList(flag: string, word: string): unknown[] {
  const list = readJson(flag, word)
  if (!Array.isArray(list)) throw new UsageError(`${flag} takes a list`)
  return list
}

function readPairs(flag: string, word: string): object {
  if (word.startsWith('{')) {
    const map = readJson(flag, word)
    if (typeof map === 'object' && map !== null) return map
  }
  const at = word.indexOf('=')
  if (at < 1) throw new UsageError(`${flag} takes key=value, not ${word}`)
  return { [word.slice(0, at)]: word.slice(at + 1) }
}
