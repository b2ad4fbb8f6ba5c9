import { bytes } from '../../parts/chart/numbers.ts'

const WIDTH = 8
const HEIGHT = 20

/** Draws one bar per day. */
export function Sparkline({ days, label }: { days: readonly number[]; label: string }) {
  const most = Math.max(1, ...days)
  const bars = days.map((value, at) => {
    const height = value === 0 ? 1 : Math.max(2, (value / most) * HEIGHT)
    return `M${at * WIDTH + 1} ${HEIGHT}v${-height}h${WIDTH - 2}v${height}z`
  })
  return (
    <svg
      role="img"
      aria-label={`${label}: ${days.map(bytes).join(', ')} by day`}
      width={days.length * WIDTH}
      height={HEIGHT}
      className="shrink-0"
    >
      <path d={bars.join('')} className="fill-bar-info" />
    </svg>
  )
}
