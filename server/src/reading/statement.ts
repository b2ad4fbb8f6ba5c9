/** A Param is a value beside a statement. Whatever comes from a caller or from stored data reaches the store as one. */
export type Param = { readonly type: ParamType; readonly value: string | readonly (string | number | bigint)[] }
type Scalar = 'UInt8' | 'String' | 'Float64' | 'Int64' | 'UInt64' | 'UUID'
type ParamType = Scalar | `Array(${Scalar})`

/** A Members is the right side of `in`: the values of a param, which holds a list. */
export type Members = { readonly members: Param }

/** A Sql is a piece of a statement: texts of this program with params and other pieces between them. */
export type Sql = { readonly texts: readonly string[]; readonly between: readonly (Sql | Param | Members)[] }

/**
 * A Statement is what is sent: the text has no value in it, so that it is the same whatever a caller says. A value that is too long to be a param
 * goes along as a table of one column, `value`, so that neither the text nor a param grows with it.
 */
export type Statement = {
  readonly text: string
  readonly params: Readonly<Record<string, Field['value']>>
  readonly tables: Readonly<Record<string, ValueTable>>
}
export type ValueTable = { readonly type: string; readonly values: readonly (string | number | bigint)[] }

/** sql makes a piece; nothing but params and other pieces can stand between its texts. */
export const sql = (texts: TemplateStringsArray, ...between: readonly (Sql | Param | Members)[]): Sql => ({ texts, between })

/** among is true where a text, number or id is one of a list, however long the list is. */
export const among = (left: Sql, list: Param): Sql => sql`${left} in ${{ members: list }}`

/** param makes params, by the type that the store is to read them as. */
export const param = {
  flag: (value: boolean): Param => ({ type: 'UInt8', value: value ? '1' : '0' }),
  text: (value: string): Param => ({ type: 'String', value }),
  texts: (value: readonly string[]): Param => ({ type: 'Array(String)', value }),
  float: (value: number): Param => ({ type: 'Float64', value: String(value) }),
  int64: (value: bigint): Param => ({ type: 'Int64', value: value.toString() }),
  uint64: (value: bigint): Param => ({ type: 'UInt64', value: value.toString() }),
  floats: (value: readonly number[]): Param => ({ type: 'Array(Float64)', value }),
  int64s: (value: readonly bigint[]): Param => ({ type: 'Array(Int64)', value }),
  uint64s: (value: readonly bigint[]): Param => ({ type: 'Array(UInt64)', value }),
  uint8s: (value: readonly number[]): Param => ({ type: 'Array(UInt8)', value }),
  uuid: (value: string): Param => ({ type: 'UUID', value }),
  uuids: (value: readonly string[]): Param => ({ type: 'Array(UUID)', value }),
} as const

/** digits writes a number of the program's own, such as a limit or the number of a branch. */
export function digits(value: number): Sql {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('only whole numbers are written into statements')
  return { texts: [String(value)], between: [] }
}

/** name writes a name of the program's own: a table, a column, a setting. */
export function name(value: string): Sql {
  if (!/^[a-z][a-z0-9_]*$/.test(value)) throw new Error('only names of this program are written into statements')
  return { texts: [value], between: [] }
}

/** constant is SQL that is a constant of this program but is kept elsewhere, such as the expression of an index. */
export const constant = (value: string): Sql => ({ texts: [value], between: [] })

export const TRUE: Sql = sql`1`
export const FALSE: Sql = sql`0`

export const joined = (pieces: readonly Sql[], separator: ', ' | ' union all ' | ' ' = ', '): Sql =>
  pieces.length === 0 ? sql`` : { texts: ['', ...pieces.slice(1).map(() => separator), ''], between: pieces }

/** and, or and not keep constants out of statements: a piece that is TRUE or FALSE decides or goes. */
export function and(pieces: readonly Sql[]): Sql {
  if (pieces.includes(FALSE)) return FALSE
  return connected(
    pieces.filter((piece) => piece !== TRUE),
    ' and ',
    TRUE,
  )
}

export function or(pieces: readonly Sql[]): Sql {
  if (pieces.includes(TRUE)) return TRUE
  return connected(
    pieces.filter((piece) => piece !== FALSE),
    ' or ',
    FALSE,
  )
}

export const not = (piece: Sql): Sql => (piece === TRUE ? FALSE : piece === FALSE ? TRUE : sql`not (${piece})`)

function connected(pieces: readonly Sql[], word: ' and ' | ' or ', empty: Sql): Sql {
  const [first] = pieces
  if (first === undefined) return empty
  if (pieces.length === 1) return first
  return { texts: ['(', ...pieces.slice(1).map(() => word), ')'], between: pieces }
}

/** FIELDS_MAX is how many params are sent one by one: the store refuses a request with a thousand. */
const FIELDS_MAX = 500
/** PACK is how many values of a type share a field when there are more of them. The store reads a field anew wherever one of its values stands. */
const PACK = 16
/** FIELD_CHARS_MAX is how long a param may be: the store refuses a field of 128 KiB, and a character may take four bytes. */
const FIELD_CHARS_MAX = 16_384

/** statement writes a piece out; a param that is used twice is sent once. */
export function statement(whole: Sql, fieldsMax = FIELDS_MAX): Statement {
  const used = new Set(paramsIn(whole))
  const fields = used.size > fieldsMax ? packed(used, fieldsMax) : [...used].map((one) => ({ type: one.type, value: one.value, of: [one] }))
  const written = new Map<Param, Written>()
  const params: Record<string, Field['value']> = {}
  const tables: Record<string, ValueTable> = {}
  for (const [number, { type, value, of }] of fields.entries()) {
    const isTable = charsOf(value) > FIELD_CHARS_MAX
    const [field, table] = [`p${number}`, `t${number}`]
    if (isTable) tables[table] = { type: elementOf(type), values: typeof value === 'string' ? [value] : value }
    else params[field] = value
    const stored = !isTable ? `{${field}:${type}}` : `(select ${type.startsWith('Array(') ? 'groupArray' : 'any'}(value) from ${table})`
    const members = isTable ? `(select value from ${table})` : `{${field}:${type}}`
    for (const [index, one] of of.entries()) written.set(one, { value: type === one.type ? stored : `${stored}[${index + 1}]`, members })
  }
  return { text: textOf(whole, written), params, tables }
}

/** Written is how a param stands in a statement: as a value, and behind `in`. */
type Written = { readonly value: string; readonly members: string }

/** A Field is what is sent beside a statement: one param, or an array of several. */
type Field = {
  readonly type: string
  readonly value: string | readonly (string | number | bigint)[]
  readonly of: readonly Param[]
}

function charsOf(value: Field['value']): number {
  if (typeof value === 'string') return value.length
  // Each element has quotes and a comma.
  return value.reduce<number>((sum, one) => sum + String(one).length + 3, 0)
}

const elementOf = (type: string): string => /^Array\((.*)\)$/.exec(type)?.[1] ?? type

/** QUOTED are the types whose values stand in quotes within an array; numbers have none there. */
const QUOTED: readonly string[] = ['String', 'UUID']

/** packed puts the params of a type into arrays, whose elements the store takes for the constants that they are. */
function packed(params: ReadonlySet<Param>, fieldsMax: number): readonly Field[] {
  const size = Math.max(PACK, Math.ceil(params.size / Math.max(1, fieldsMax)))
  const fields: Field[] = []
  for (const [type, all] of Map.groupBy(params, (one) => one.type)) {
    const single = all.flatMap((one) => (typeof one.value === 'string' ? { one, value: one.value } : []))
    if (single.length === 0) fields.push(...all.map((one) => ({ type, value: one.value, of: [one] })))
    for (let first = 0; first < single.length; first += size) {
      const together = single.slice(first, first + size)
      fields.push({ type: `Array(${type})`, value: together.map(({ value }) => inArray(type, value)), of: together.map(({ one }) => one) })
    }
  }
  return fields
}

function inArray(type: string, value: string): string | number | bigint {
  if (QUOTED.includes(type)) return value
  return type === 'Float64' ? Number(value) : BigInt(value)
}

function paramsIn(piece: Sql | Param | Members): readonly Param[] {
  if ('type' in piece) return [piece]
  return 'members' in piece ? [piece.members] : piece.between.flatMap(paramsIn)
}

function textOf(piece: Sql | Param | Members, written: ReadonlyMap<Param, Written>): string {
  if ('type' in piece) return written.get(piece)?.value ?? ''
  if ('members' in piece) return written.get(piece.members)?.members ?? ''
  const { texts, between } = piece
  return texts.map((own, index) => (between[index] === undefined ? own : own + textOf(between[index], written))).join('')
}
