/** IDS_PER_PARAM keeps a param below the 128 KiB that the store takes in one field. */
const IDS_PER_PARAM = 2_500

/** An IdList is a condition on a column of ids and its params, however many ids there are. The params have to be sent in the body. */
export type IdList = { readonly condition: string; readonly params: Readonly<Record<string, readonly string[]>> }

/** amongIds is true where a column holds one of the ids; `param` is how the names of its params begin. */
export function amongIds(column: string, param: string, ids: readonly string[]): IdList {
  const params: Record<string, readonly string[]> = {}
  for (let first = 0; first === 0 || first < ids.length; first += IDS_PER_PARAM) {
    params[`${param}${first / IDS_PER_PARAM}`] = ids.slice(first, first + IDS_PER_PARAM)
  }
  const conditions = Object.keys(params).map((name) => `${column} in {${name}:Array(UUID)}`)
  return { condition: `(${conditions.join(' or ')})`, params }
}
