import type { ClockReport } from '../../../kernel/clock.ts'

/** A Gap is time whose events may carry other times, or were never sent: the clock was set, or no process was there. */
export type Gap = { readonly fromMs: number; readonly toMs: number; readonly reason: string }

/** GAP_SHARE is how much of a window a gap may take before the window says too little. */
const GAP_SHARE = 0.1
/** WAIT_MAX_MS bounds how long a monitor with a long window waits after a gap. */
const WAIT_MAX_MS = 15 * 60_000
/** ABSENCE_MS is how long no process may have evaluated monitors before it counts as a gap. */
const ABSENCE_MS = 120_000

type Window = { fromMs: number; toMs: number; nowMs: number }

/** reasonOfGap is why a window cannot be judged yet; undefined when it can. */
export function reasonOfGap(gaps: readonly Gap[], { fromMs, toMs, nowMs }: Window): string | undefined {
  const windowMs = toMs - fromMs
  return gaps.find((gap) => {
    const coveredMs = Math.min(toMs, gap.toMs) - Math.max(fromMs, gap.fromMs)
    return coveredMs > windowMs * GAP_SHARE && nowMs < gap.toMs + Math.min(windowMs, WAIT_MAX_MS)
  })?.reason
}

/** gapsOf are the gaps that this process knows: after a step of the clock, recent events carry times that are off by it. */
export function gapsOf(report: ClockReport | undefined, absence: Gap | undefined): Gap[] {
  const gaps = absence ? [absence] : []
  if (!report?.lastStep) return gaps
  const { atMs, byMs } = report.lastStep
  const reason = `the clock was set by ${Math.round(byMs / 1_000)} s; the window is not complete yet`
  return [...gaps, { fromMs: atMs - Math.abs(byMs), toMs: atMs, reason }]
}

/** absenceBefore is the gap before a process that starts now, when the last evaluation of any process is long ago. */
export function absenceBefore(lastMs: number | undefined, nowMs: number): Gap | undefined {
  if (lastMs === undefined || nowMs - lastMs <= ABSENCE_MS) return undefined
  return { fromMs: lastMs, toMs: nowMs, reason: 'no process evaluated monitors before; the window is not complete yet' }
}
