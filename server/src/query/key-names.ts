/** Fields that logs and spans share: spans have them as attributes of their own, so that one condition finds a trace in both. */
const spanKeys: ReadonlySet<string> = new Set(['trace_id', 'span_id'])

/** The keys that a name may mean, of which the first one counts that an event has: a name without `$` may also be the attribute of that name. */
export function keyNames(name: string): readonly string[] {
  if (name.startsWith('$') || name.startsWith('@')) return [name]
  return spanKeys.has(name) ? [name, `$${name}`, `$span.${name}`] : [name, `$${name}`]
}
