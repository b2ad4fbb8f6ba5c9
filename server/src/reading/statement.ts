/** A Param is a value beside a statement. Whatever comes from a caller or from stored data reaches the store as one. */
export type Param = { readonly type: ParamType; readonly value: string | readonly string[] }
type ParamType = 'UInt8' | 'String' | 'Float64' | 'Int64' | 'UInt64' | 'UUID' | 'Array(String)' | 'Array(UUID)' | 'Array(UInt64)'

/** A Sql is a piece of a statement: texts of this program with params and other pieces between them. */
export type Sql = { readonly texts: readonly string[]; readonly between: readonly (Sql | Param)[] }

/** A Statement is what is sent: the text has no value in it, so that it is the same whatever a caller says. */
export type Statement = { readonly text: string; readonly params: Readonly<Record<string, string | readonly string[]>> }

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

/** statement writes a piece out; a param that is used twice is sent once. */
export function statement(whole: Sql): Statement {
  const names = new Map<Param, string>()
  const params: Record<string, string | readonly string[]> = {}
  let written = ''
  const write = (piece: Sql | Param): void => {
    if ('type' in piece) {
      const known = names.get(piece) ?? `p${names.size}`
      names.set(piece, known)
      params[known] = piece.value
      written += `{${known}:${piece.type}}`
      return
    }
    for (const [index, own] of piece.texts.entries()) {
      written += own
      const next = piece.between[index]
      if (next !== undefined) write(next)
    }
  }
  write(whole)
  return { text: written, params }
}
