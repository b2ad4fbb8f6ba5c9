/** After which age events move to cold storage; without `otherwiseMs` everything moves back to the disk. Longer ages may be set for datasets and organizations by id. */
export type ColdAges = { otherwiseMs: number | undefined; byId: ReadonlyMap<string, number> }

/** A part of a table of events. `day` is that of all its events, since 1970 in UTC. */
export type StoredPart = { node: string; table: string; name: string; day: number; isCold: boolean; bytes: number; ageS: number }

const DAY_MS = 86_400_000
/** In a partition with more cold parts of a table, further parts wait until they have settled: parts in cold storage are not merged any more. */
const COLD_PARTS_MAX = 8
const SETTLED_S = 86_400

/** Parts whose newest possible event is older than the age, oldest first. */
export function partsToMove(parts: readonly StoredPart[], afterMs: number, nowMs: number): StoredPart[] {
  const coldIn = new Map<string, number>()
  for (const part of parts) if (part.isCold) coldIn.set(placeOf(part), (coldIn.get(placeOf(part)) ?? 0) + 1)
  return parts
    .filter((part) => !part.isCold && isOlder(part, afterMs, nowMs))
    .filter((part) => (coldIn.get(placeOf(part)) ?? 0) < COLD_PARTS_MAX || part.ageS >= SETTLED_S)
    .toSorted((a, b) => a.day - b.day)
}

/** The whole day of the part has that age. */
export const isOlder = ({ day }: Pick<StoredPart, 'day'>, afterMs: number, nowMs: number): boolean => (day + 1) * DAY_MS + afterMs <= nowMs

const placeOf = ({ node, table, day }: StoredPart): string => `${node} ${table} ${day}`

/** Groups datasets that stay longer by their age. An age of its own counts before that of the organization. */
export function longerAges(ages: ColdAges, datasets: readonly { id: string; org_id: string }[]): Map<number, string[]> {
  const byAge = new Map<number, string[]>()
  for (const { id, org_id } of datasets) {
    const ageMs = ages.byId.get(id) ?? ages.byId.get(org_id)
    if (ageMs !== undefined) byAge.set(ageMs, [...(byAge.get(ageMs) ?? []), id])
  }
  return byAge
}
