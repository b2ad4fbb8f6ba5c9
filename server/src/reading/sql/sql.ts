/** A parameter of a statement. Every value from a caller or from stored data reaches the store as one. */
export type Param = { readonly type: ParamType; readonly value: string | readonly (string | number | bigint)[] }
type Scalar = 'UInt8' | 'String' | 'Float64' | 'Int64' | 'UInt64' | 'UUID'
type ParamType = Scalar | `Array(${Scalar})`

/** The right side of `in`: a parameter that holds a list. */
export type ListMembers = { readonly members: Param }

/**
 * What a fragment does that decides how the store should run a statement with it:
 * - `storedCounts`: it counts events by minute or by period, which the store has counts for
 * - `wordIndex`: it asks the index of all words
 * - `candidates`: it selects events whose lines are looked at more closely
 * - `lineRebuild`: it rebuilds lines, which takes memory for every event of a block
 * - `lineValues`: it searches all values of lines at once, which takes memory for every event of a block
 * - `textSearch`: it searches one text for others
 * - `costlyValue`: it computes a value that is worth leaving out for events that another condition excludes
 * - `arrayElement`: it reads a value in an array, which takes long to prepare
 */
export type Trait =
  | 'storedCounts'
  | 'wordIndex'
  | 'candidates'
  | 'lineRebuild'
  | 'lineValues'
  | 'textSearch'
  | 'costlyValue'
  | 'arrayElement'
/** How often a fragment and those in it have each trait. */
export type Uses = Readonly<Partial<Record<Trait, number>>>

/** A fragment of a statement: constant text with parameters and other fragments in between, what it does, and which columns its values come from. */
export type SqlFragment = {
  readonly texts: readonly string[]
  readonly between: readonly (SqlFragment | Param | ListMembers)[]
  readonly uses: Uses
  readonly columns: ReadonlySet<string>
}

/**
 * A statement to send. Its text contains no values, so it does not depend on what a caller sends. A value that is too long for a parameter
 * is sent as a table with one column, `value`.
 */
export type BoundStatement = {
  readonly text: string
  readonly params: Readonly<Record<string, Field['value']>>
  readonly tables: Readonly<Record<string, ValueTable>>
  readonly uses: Uses
}
export type ValueTable = { readonly type: string; readonly values: readonly (string | number | bigint)[] }

/** Builds a fragment. Only parameters and other fragments can be interpolated. */
export const sql = (texts: TemplateStringsArray, ...between: readonly (SqlFragment | Param | ListMembers)[]): SqlFragment =>
  fragment(texts, between)

const NO_USES: Uses = {}
const NO_COLUMNS: ReadonlySet<string> = new Set()

/** Unites what the parts do, and the columns that they read. Most parts do nothing special, so they share one object. */
function fragment(texts: SqlFragment['texts'], between: SqlFragment['between']): SqlFragment {
  let [uses, columns] = [NO_USES, NO_COLUMNS]
  for (const part of between) {
    if (!('texts' in part)) continue
    uses = sumOfUses(uses, part.uses)
    columns = columns.size === 0 ? part.columns : part.columns.isSubsetOf(columns) ? columns : columns.union(part.columns)
  }
  return { texts, between, uses, columns }
}

function sumOfUses(one: Uses, other: Uses): Uses {
  if (one === NO_USES || other === NO_USES) return one === NO_USES ? other : one
  const sum: Partial<Record<Trait, number>> = { ...one }
  for (const trait of Object.keys(other) as Trait[]) sum[trait] = (sum[trait] ?? 0) + (other[trait] ?? 0)
  return sum
}

/** A fragment with a trait. */
export const using = (trait: Trait, part: SqlFragment): SqlFragment => ({ ...part, uses: sumOfUses(part.uses, { [trait]: 1 }) })

/** Whether a fragment or one in it has a trait. */
export const hasTrait = ({ uses }: Pick<SqlFragment, 'uses'>, trait: Trait): boolean => (uses[trait] ?? 0) > 0

/** A value of an event that is computed from these columns. */
export const reading = (columns: readonly string[], part: SqlFragment): SqlFragment => ({
  ...part,
  columns: part.columns.union(new Set(columns)),
})

/** `left in list`, for a list of any length. */
export const inList = (left: SqlFragment, list: Param): SqlFragment => sql`${left} in ${{ members: list }}`

/** Creates parameters by the type that the store reads them as. */
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

/** Writes a number of this program, such as a limit or the number of a table. */
export function digits(value: number): SqlFragment {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('only whole numbers are written into statements')
  return fragment([String(value)], [])
}

/** Writes an identifier of this program: a table, an alias, a setting. */
export function name(value: string): SqlFragment {
  if (!/^[a-z][a-z0-9_]*$/.test(value)) throw new Error('only names of this program are written into statements')
  return fragment([value], [])
}

/** A column of the events. */
export const column = (value: string): SqlFragment => reading([value], name(value))

/** Constant SQL that is defined elsewhere, such as the expression of an index. */
export const constant = (value: string): SqlFragment => fragment([value], [])

export const TRUE: SqlFragment = sql`1`
export const FALSE: SqlFragment = sql`0`

export const joined = (pieces: readonly SqlFragment[], separator: ', ' | ' union all ' | ' ' = ', '): SqlFragment =>
  pieces.length === 0 ? sql`` : fragment(['', ...pieces.slice(1).map(() => separator), ''], pieces)

/** `and`, `or` and `not` simplify: constants are removed or decide the result. */
export function and(pieces: readonly SqlFragment[]): SqlFragment {
  if (pieces.includes(FALSE)) return FALSE
  return connected(
    pieces.filter((piece) => piece !== TRUE),
    ' and ',
    TRUE,
  )
}

export function or(pieces: readonly SqlFragment[]): SqlFragment {
  if (pieces.includes(TRUE)) return TRUE
  return connected(
    pieces.filter((piece) => piece !== FALSE),
    ' or ',
    FALSE,
  )
}

export const not = (piece: SqlFragment): SqlFragment => (piece === TRUE ? FALSE : piece === FALSE ? TRUE : sql`not (${piece})`)

function connected(pieces: readonly SqlFragment[], word: ' and ' | ' or ', empty: SqlFragment): SqlFragment {
  const [first] = pieces
  if (first === undefined) return empty
  if (pieces.length === 1) return first
  return fragment(['(', ...pieces.slice(1).map(() => word), ')'], pieces)
}

/** How many parameters are sent one by one. The store refuses a request with a thousand. */
const FIELDS_MAX = 500
/** How many values of a type share an array when there are more. The store parses the array again for each use of one of its values. */
const PARAMS_PER_ARRAY = 16
/** The maximum length of a parameter. The store refuses fields of 128 KiB, and a character may take four bytes. */
const FIELD_CHARS_MAX = 16_384

/** Builds the statement. A parameter that is used twice is sent once. */
export function bindStatement(whole: SqlFragment, fieldsMax = FIELDS_MAX): BoundStatement {
  const used = new Set(paramsIn(whole))
  const fields =
    used.size > fieldsMax ? packParams(used, fieldsMax) : [...used].map((one) => ({ type: one.type, value: one.value, of: [one] }))
  const written = new Map<Param, ParamText>()
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
  return { text: textOf(whole, written), params, tables, uses: whole.uses }
}

/** The text of a parameter: as a value, and behind `in`. */
type ParamText = { readonly value: string; readonly members: string }

/** One field of the request: one parameter, or an array of several. */
type Field = {
  readonly type: string
  readonly value: string | readonly (string | number | bigint)[]
  readonly of: readonly Param[]
}

function charsOf(value: Field['value']): number {
  if (typeof value === 'string') return value.length
  return value.reduce<number>((sum, one) => sum + String(one).length + 3, 0)
}

const elementOf = (type: string): string => /^Array\((.*)\)$/.exec(type)?.[1] ?? type

/** The types whose values are quoted inside arrays. Numbers are not. */
const QUOTED: readonly string[] = ['String', 'UUID']

/** Packs the parameters of a type into arrays. The store treats their elements as constants. */
function packParams(params: ReadonlySet<Param>, fieldsMax: number): readonly Field[] {
  const size = Math.max(PARAMS_PER_ARRAY, Math.ceil(params.size / Math.max(1, fieldsMax)))
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

function paramsIn(piece: SqlFragment | Param | ListMembers): readonly Param[] {
  if ('type' in piece) return [piece]
  return 'members' in piece ? [piece.members] : piece.between.flatMap(paramsIn)
}

function textOf(piece: SqlFragment | Param | ListMembers, written: ReadonlyMap<Param, ParamText>): string {
  if ('type' in piece) return written.get(piece)?.value ?? ''
  if ('members' in piece) return written.get(piece.members)?.members ?? ''
  const { texts, between } = piece
  return texts.map((own, index) => (between[index] === undefined ? own : own + textOf(between[index], written))).join('')
}
