const units: readonly (readonly [number, string])[] = [
  [60e9, 'min'],
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
]

/** Writes nanoseconds with three digits in the unit that fits. */
export function durationText(nanos: number): string {
  const [size, unit] = units.find(([one]) => Math.abs(nanos) >= one) ?? [1, 'ns']
  return `${Number((nanos / size).toPrecision(3))} ${unit}`
}

const sizes: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3_600e9],
])

/** Reads the nanoseconds of a duration such as `250ms`. Undefined for other texts, and for 2500 hours and more, which a float cannot represent. */
export function readDuration(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,16}(?:\.\d{1,9})?)([a-z]+)$/.exec(text) ?? []
  const nanos = Math.round(Number(digits) * (sizes.get(unit) ?? Number.NaN))
  return Number.isSafeInteger(nanos) ? nanos : undefined
}

/** Reads a duration of one or several units, such as `1m30s`, as other programs write them. */
export function readDurations(text: string): number | undefined {
  const parts = text.replaceAll('µs', 'us').match(/\d+(?:\.\d+)?[a-z]+/g) ?? []
  const nanos = parts.reduce((sum, part) => sum + (readDuration(part) ?? Number.NaN), 0)
  return parts.length > 0 && parts.join('') === text.replaceAll('µs', 'us') && Number.isSafeInteger(nanos) ? nanos : undefined
}
