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
