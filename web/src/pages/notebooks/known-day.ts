import { clockOf, type Zone } from '../../parts/time/time-range.ts'

/** True for times whose day goes without saying: the only one that the name of the range has, or today in a range that is relative to now. */
export function isDayKnown(ms: number, range: string, zone: Zone, nowMs: number): boolean {
  const days = range.match(/\d{4}-\d\d-\d\d/g) ?? [clockOf(nowMs, zone).day]
  return days.length === 1 && days[0] === clockOf(ms, zone).day
}
