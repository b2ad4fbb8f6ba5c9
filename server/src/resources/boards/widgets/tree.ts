/** A widget with the ids of its inner widgets. */
export type Container = { readonly id: string; readonly widget_ids: readonly string[] }

/** Returns the ids and everything inside them at any depth, each once, outer ones first. */
export function within(ids: Iterable<string>, holders: readonly Container[]): Set<string> {
  const childrenOf = new Map(holders.map((holder) => [holder.id, holder.widget_ids]))
  const found = new Set(ids)
  // Iterating a Set also visits elements added meanwhile.
  for (const id of found) for (const child of childrenOf.get(id) ?? []) found.add(child)
  return found
}

/** Returns those within `ids` that nothing holds once their container is gone. */
export function leftAlone(ids: readonly string[], otherLists: readonly (readonly string[])[], holders: readonly Container[]): Set<string> {
  const going = within(ids, holders)
  const staying = holders.filter(({ id }) => !going.has(id)).flatMap(({ widget_ids }) => widget_ids)
  return going.difference(within([...otherLists.flat(), ...staying], holders))
}
