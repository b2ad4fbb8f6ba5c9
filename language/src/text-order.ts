/** Compares texts by their UTF-8 bytes, which is the order of code points: surrogates sort above the rest of the first 65,536. */
export function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at += 1) {
    const left = one.charCodeAt(at)
    const right = other.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return one.length - other.length
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
