/** Keeps a parameter below the 128 KiB that the store accepts in one field. */
const IDS_PER_PARAM = 2_500

/** A condition on a column of ids and its parameters, for any number of ids. The parameters must be sent in the body. */
export type IdList = { readonly condition: string; readonly params: Readonly<Record<string, readonly string[]>> }

/** Matches a column that holds one of the ids; `param` is the prefix of the parameter names. */
export function amongIds(column: string, param: string, ids: readonly string[]): IdList {
  const params: Record<string, readonly string[]> = {}
  for (let first = 0; first === 0 || first < ids.length; first += IDS_PER_PARAM) {
    params[`${param}${first / IDS_PER_PARAM}`] = ids.slice(first, first + IDS_PER_PARAM)
  }
  const conditions = Object.keys(params).map((name) => `${column} in {${name}:Array(UUID)}`)
  return { condition: `(${conditions.join(' or ')})`, params }
}
