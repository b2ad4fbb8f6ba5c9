import type { ChartBand } from '../../parts/chart/data.ts'
import type { Status } from '../../parts/records/status.tsx'

/** The time spans with a status other than OK; each status lasts until the next, the last until endMs. */
export function bandsOf(statuses: readonly { time: number; status: Status }[], endMs: number): ChartBand[] {
  const bands: ChartBand[] = []
  for (const [at, { time, status }] of statuses.entries()) {
    if (status === 'OK') continue
    const toMs = statuses[at + 1]?.time ?? endMs
    const last = bands.at(-1)
    if (last?.kind === status && last.toMs === time) last.toMs = toMs
    else bands.push({ fromMs: time, toMs, kind: status })
  }
  return bands
}
