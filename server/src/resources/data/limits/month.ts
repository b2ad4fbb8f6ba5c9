/** A calendar month in UTC; `endMs` is the start of the next. */
export type Month = { startMs: number; endMs: number }

export function monthOf(nowMs: number): Month {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) }
}
