/** The number of ids in one request. */
const IDS_MAX = 100
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

type Named = { readonly id: string }
type Batch<T> = { readonly ids: Set<string>; readonly records: Promise<ReadonlyMap<string, T>> }

/**
 * Makes a function that reads a record by its id, together with others of the same `scope` that are wanted at the same moment. What is no id, or of no
 * record that the caller may see, is null.
 */
export function readerById<T extends Named, Client>(readMany: (client: Client, ids: readonly string[]) => Promise<readonly T[]>) {
  const open = new WeakMap<WeakKey, Batch<T>>()
  const begin = (scope: WeakKey, client: Client): Batch<T> => {
    const ids = new Set<string>()
    const records = Promise.resolve().then(async () => {
      if (open.get(scope)?.ids === ids) open.delete(scope)
      return new Map((await readMany(client, [...ids])).map((record) => [record.id, record]))
    })
    const batch = { ids, records }
    open.set(scope, batch)
    return batch
  }
  return async (scope: WeakKey, client: Client, id: string): Promise<T | null> => {
    if (!UUID.test(id)) return null
    const last = open.get(scope)
    const batch = last && (last.ids.size < IDS_MAX || last.ids.has(id)) ? last : begin(scope, client)
    batch.ids.add(id)
    return (await batch.records).get(id) ?? null
  }
}

/** Reads the records of some ids, each once, in as many requests as they need. */
export async function readAllById<T>(
  ids: readonly string[],
  readMany: (ids: readonly string[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const wanted = [...new Set(ids)]
  const parts = Array.from({ length: Math.ceil(wanted.length / IDS_MAX) }, (_, n) => wanted.slice(n * IDS_MAX, (n + 1) * IDS_MAX))
  return (await Promise.all(parts.map(readMany))).flat()
}
