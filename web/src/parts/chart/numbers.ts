const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const count = (value: number | bigint): string => whole.format(value)
export const compact = (value: number | bigint): string => short.format(value)

/** A number with its noun: `1 event`, `2 events`. */
export const quantity = (value: number | bigint, noun: string): string => `${count(value)} ${noun}${Number(value) === 1 ? '' : 's'}`

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Writes a size in powers of a thousand, as disks and networks are counted. */
export function bytes(value: number): string {
  let at = 0
  let rest = value
  while (rest >= 999.5 && at < units.length - 1) {
    rest /= 1000
    at += 1
  }
  return `${at === 0 ? rest : rest.toFixed(rest < 10 ? 1 : 0)} ${units[at]}`
}

export const share = (part: number, all: number): string => {
  if (all === 0) return '0 %'
  const percent = (100 * part) / all
  return percent > 0 && percent < 0.1 ? '< 0.1 %' : `${percent.toFixed(percent < 10 ? 1 : 0)} %`
}

/** The difference in percent, or as a factor from ten on. */
export function change(now: number, before: number): string {
  if (now === before) return 'the same'
  if (before === 0) return 'new'
  if (now === 0) return 'gone'
  if (now >= 10 * before) return `×${count(Math.round(now / before))}`
  const percent = (100 * (now - before)) / before
  const shown = Math.abs(percent) < 10 ? Math.abs(percent).toFixed(1) : count(Math.round(Math.abs(percent)))
  return `${percent > 0 ? '+' : '−'}${shown} %`
}

const steps: readonly [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** Writes a length of time in its largest whole unit. */
export function span(ms: number): string {
  for (const [size, name] of steps) if (ms >= size) return `${Number((ms / size).toFixed(ms % size === 0 ? 0 : 1))} ${name}`
  return `${Math.round(ms)} ms`
}

export const ago = (atMs: number, nowMs: number): string => (nowMs - atMs < 1_000 ? 'just now' : `${span(floorTo(nowMs - atMs))} ago`)

const floorTo = (ms: number): number => {
  const size = steps.find(([one]) => ms >= one)?.[0] ?? 1
  return Math.floor(ms / size) * size
}
