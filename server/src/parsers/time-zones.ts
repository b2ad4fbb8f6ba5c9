import { Recent } from '../kernel/recent.ts'

const DAY_MS = 86_400_000
/** Offsets change at quarters of an hour. */
const QUARTER_MS = 900_000
const ZONES_MAX = 64
const QUARTERS_MAX = 1_000

/** Quarters keep what they begin with in UTC: formatting takes a hundred times as long as the rest. */
type Zone = { format: Intl.DateTimeFormat; quarters: Map<number, number> }
const zones = new Recent<string, Zone>(ZONES_MAX)

/**
 * Converts a local time, given as if it were UTC. A local time that occurs twice is the first one; one that a change of the clocks leaves out
 * counts from before the change.
 */
export function localToUtcMs(name: string, localMs: number): number {
  if (name === 'UTC') return localMs
  const zone = zoneOf(name)
  const quarter = Math.floor(localMs / QUARTER_MS)
  let utcMs = zone.quarters.get(quarter)
  if (utcMs === undefined) {
    if (zone.quarters.size >= QUARTERS_MAX) zone.quarters.clear()
    utcMs = quarterToUtcMs(zone.format, quarter * QUARTER_MS)
    zone.quarters.set(quarter, utcMs)
  }
  return utcMs + (localMs - quarter * QUARTER_MS)
}

function quarterToUtcMs(format: Intl.DateTimeFormat, localMs: number): number {
  const [before, after] = [offsetMs(format, localMs - DAY_MS), offsetMs(format, localMs + DAY_MS)]
  for (const offset of [before, after]) if (offsetMs(format, localMs - offset) === offset) return localMs - offset
  return localMs - before
}

/** How far local time is ahead of UTC. */
function offsetMs(format: Intl.DateTimeFormat, utcMs: number): number {
  const parts = new Map(format.formatToParts(utcMs).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
  return (
    Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) - Math.floor(utcMs / 1_000) * 1_000
  )
}

function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  const numeric = 'numeric'
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  })
  const made = { format, quarters: new Map<number, number>() }
  zones.set(name, made)
  return made
}
