/** A Param is a value beside a statement. Whatever comes from a caller or from stored data reaches the store as one. */
export type Param = { readonly type: ParamType; readonly value: string | readonly string[] }
type ParamType = 'UInt8' | 'String' | 'Float64' | 'Int64' | 'UInt64' | 'UUID' | 'Array(String)' | 'Array(UUID)' | 'Array(UInt64)'

/** A Sql is a piece of a statement: texts of this program with params and other pieces between them. */
export type Sql = { readonly texts: readonly string[]; readonly between: readonly (Sql | Param)[] }

/** A Statement is what is sent: the text has no value in it, so that it is the same whatever a caller says. */
export type Statement = { readonly text: string; readonly params: Readonly<Record<string, Field['value']>> }

/** sql makes a piece; nothing but params and other pieces can stand between its texts. */
export const sql = (texts: TemplateStringsArray, ...between: readonly (Sql | Param)[]): Sql => ({ texts, between })

/** param makes params, by the type that the store is to read them as. */
export const param = {
  flag: (value: boolean): Param => ({ type: 'UInt8', value: value ? '1' : '0' }),
  text: (value: string): Param => ({ type: 'String', value }),
  texts: (value: readonly string[]): Param => ({ type: 'Array(String)', value }),
  float: (value: number): Param => ({ type: 'Float64', value: String(value) }),
  int64: (value: bigint): Param => ({ type: 'Int64', value: value.toString() }),
  uint64: (value: bigint): Param => ({ type: 'UInt64', value: value.toString() }),
  uint64s: (value: readonly bigint[]): Param => ({ type: 'Array(UInt64)', value: value.map(String) }),
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

/** statement writes a piece out; a param that is used twice is sent once. */
export function statement(whole: Sql, fieldsMax = FIELDS_MAX): Statement {
  const used = new Set(paramsIn(whole))
  const fields = used.size > fieldsMax ? packed(used) : [...used].map((one) => ({ type: one.type, value: one.value, of: [one] }))
  const written = new Map<Param, string>()
  for (const [number, { type, of }] of fields.entries()) {
    for (const [index, one] of of.entries())
      written.set(one, type === one.type ? `{p${number}:${type}}` : `{p${number}:${type}}[${index + 1}]`)
  }
  return { text: textOf(whole, written), params: Object.fromEntries(fields.map(({ value }, number) => [`p${number}`, value])) }
}

/** A Field is what is sent beside a statement: one param, or an array of several. */
type Field = {
  readonly type: string
  readonly value: Param['value'] | readonly (string | number | bigint)[]
  readonly of: readonly Param[]
}

/** QUOTED are the types whose values stand in quotes within an array; numbers have none there. */
const QUOTED: readonly string[] = ['String', 'UUID']

/** packed puts the params of a type into arrays, whose elements the store takes for the constants that they are. */
function packed(params: ReadonlySet<Param>): readonly Field[] {
  const fields: Field[] = []
  for (const [type, all] of Map.groupBy(params, (one) => one.type)) {
    const single = all.flatMap((one) => (typeof one.value === 'string' ? { one, value: one.value } : []))
    if (single.length === 0) fields.push(...all.map((one) => ({ type, value: one.value, of: [one] })))
    for (let first = 0; first < single.length; first += PACK) {
      const together = single.slice(first, first + PACK)
      fields.push({ type: `Array(${type})`, value: together.map(({ value }) => inArray(type, value)), of: together.map(({ one }) => one) })
    }
  }
  return fields
}

function inArray(type: string, value: string): string | number | bigint {
  if (QUOTED.includes(type)) return value
  return type === 'Float64' ? Number(value) : BigInt(value)
}

const paramsIn = (piece: Sql | Param): readonly Param[] => ('type' in piece ? [piece] : piece.between.flatMap(paramsIn))

function textOf(piece: Sql | Param, written: ReadonlyMap<Param, string>): string {
  if ('type' in piece) return written.get(piece) ?? ''
  const { texts, between } = piece
  return texts.map((own, index) => (between[index] === undefined ? own : own + textOf(between[index], written))).join('')
}
