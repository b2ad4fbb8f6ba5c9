import { hasWide } from './text-kinds'

/** Set for a text where characters beyond ASCII would have to be counted, which the reference does. */
let unusual: bool = false
export function clearUnusual(): void {
  unusual = false
}
export function isUnusual(): bool {
  return unusual
}
export function setUnusual(): void {
  unusual = true
}

/** True for a part of more than so many characters. */
export function isLonger(start: i32, end: i32, charsMax: i32): bool {
  if (end - start <= charsMax) return false
  if (hasWide(start, end)) unusual = true
  return true
}
