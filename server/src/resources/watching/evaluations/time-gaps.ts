import type { ClockReport } from '../../../kernel/clock.ts'

/** A time whose events may have wrong timestamps or were never sent: the clock was set, or no process ran. */
export type Gap = { readonly fromMs: number; readonly toMs: number; readonly reason: string }

/** The share of a window that a gap may cover before the window counts as incomplete. */
const GAP_SHARE = 0.1
/** How long a monitor with a long window waits after a gap. */
const WAIT_MAX_MS = 15 * 60_000
/** The time without evaluations by any process that counts as a gap. */
const ABSENCE_MS = 120_000

type Window = { fromMs: number; toMs: number; nowMs: number }

/** Why a window cannot be evaluated yet; undefined when it can. */
export function reasonOfGap(gaps: readonly Gap[], { fromMs, toMs, nowMs }: Window): string | undefined {
  const windowMs = toMs - fromMs
  return gaps.find((gap) => {
    const coveredMs = Math.min(toMs, gap.toMs) - Math.max(fromMs, gap.fromMs)
    return coveredMs > windowMs * GAP_SHARE && nowMs < gap.toMs + Math.min(windowMs, WAIT_MAX_MS)
  })?.reason
}

/** The gaps known to this process. After a clock step, the timestamps of recent events are off by its size. */
export function gapsOf(report: ClockReport | undefined, absence: Gap | undefined): Gap[] {
  const gaps = absence ? [absence] : []
  if (!report?.lastStep) return gaps
  const { atMs, byMs } = report.lastStep
  const reason = `the clock was set by ${Math.round(byMs / 1_000)} s; the window is not complete yet`
  return [...gaps, { fromMs: atMs - Math.abs(byMs), toMs: atMs, reason }]
}

/** The gap before this process started, if the last evaluation of any process is long ago. */
export function absenceBefore(lastMs: number | undefined, nowMs: number): Gap | undefined {
  if (lastMs === undefined || nowMs - lastMs <= ABSENCE_MS) return undefined
  return { fromMs: lastMs, toMs: nowMs, reason: 'no process evaluated monitors before; the window is not complete yet' }
}
