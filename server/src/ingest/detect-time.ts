import { type Instant, readTime } from '../events/shred/time-text.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY_MS = 86_400_000

/** isoTime reads the forms that stand in front of lines: also with slashes between the parts of the date. */
export const isoTime = (text: string): Instant | undefined => readTime(text.replace(/^(\d{4})\/(\d\d)\/(\d\d)/, '$1-$2-$3'))?.instant

/** namedMonthTime reads a date with the name of its month; without a year it is the latest one that is not more than a day ahead. */
export function namedMonthTime(
  { year, month, day, clock, zone }: { year?: string | undefined; month: string; day: string; clock: string; zone?: string | undefined },
  at: Instant,
): Instant | undefined {
  const number = months.indexOf(month) + 1
  if (number === 0) return undefined
  const read = (fullYear: number) =>
    readTime(
      `${String(fullYear).padStart(4, '0')}-${String(number).padStart(2, '0')}-${day.trim().padStart(2, '0')}T${clock}${zone ?? 'Z'}`,
    )?.instant
  if (year !== undefined) return read(Number(year))
  const thisYear = new Date(at.ms + DAY_MS).getUTCFullYear()
  const found = read(thisYear)
  return found && found.ms <= at.ms + DAY_MS ? found : read(thisYear - 1)
}
