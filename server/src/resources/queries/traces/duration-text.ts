import { badField } from '../../../kernel/errors.ts'

const NANOS: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3_600e9],
])

/** The nanoseconds of a duration such as `250ms`, whose form was checked before. */
export function nanosOf(field: string, text: string): number {
  const [, digits = '', unit = ''] = /^([\d.]+)([a-z]+)$/.exec(text) ?? []
  const nanos = Math.round(Number(digits) * (NANOS.get(unit) ?? Number.NaN))
  if (!Number.isSafeInteger(nanos)) throw badField(field, 'must be less than 2500h', 'OUT_OF_RANGE')
  return nanos
}
