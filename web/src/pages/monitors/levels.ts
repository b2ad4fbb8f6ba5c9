import type { Monitor } from '@dendro/api'
import type { ChartLevel } from '../../parts/chart/data.ts'

/** The thresholds as chart levels; those of low anomalies are negative. */
export function levelsOf({
  type,
  comparison_operator,
  threshold,
  warning_threshold,
}: Pick<Monitor, 'type' | 'comparison_operator' | 'threshold' | 'warning_threshold'>): ChartLevel[] {
  const sign = type === 'ANOMALY_DETECTION' && comparison_operator.startsWith('BELOW') ? -1 : 1
  return [
    { value: sign * threshold, name: 'alert', kind: 'ALERT' },
    ...(warning_threshold === undefined ? [] : [{ value: sign * warning_threshold, name: 'warning', kind: 'WARN' } as const]),
  ]
}
