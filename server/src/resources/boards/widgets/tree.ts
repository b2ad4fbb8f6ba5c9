/** A Holder is what lies in what: a widget with the ids of the widgets in it. */
export type Holder = { readonly id: string; readonly widget_ids: readonly string[] }

/** within gives the ids and everything that lies in them, however deep, each once, the outer ones first. */
export function within(ids: Iterable<string>, holders: readonly Holder[]): Set<string> {
  const childrenOf = new Map(holders.map((holder) => [holder.id, holder.widget_ids]))
  const found = new Set(ids)
  // A set that grows while it is walked through is walked through to its end.
  for (const id of found) for (const child of childrenOf.get(id) ?? []) found.add(child)
  return found
}

/** leftAlone gives those within `ids` that nothing holds any more once their holder is gone: no outer list, and no widget that stays. */
export function leftAlone(ids: readonly string[], otherLists: readonly (readonly string[])[], holders: readonly Holder[]): Set<string> {
  const going = within(ids, holders)
  const staying = holders.filter(({ id }) => !going.has(id)).flatMap(({ widget_ids }) => widget_ids)
  return going.difference(within([...otherLists.flat(), ...staying], holders))
}
