import type { LineSample } from '../../events/ledger/samples.ts'

/** The bytes of lines of which one line is sampled. */
export const SAMPLE_BYTES = 64 * 1_024
/** Fields of longer lines are not measured: reading them would cost as much as storing them. */
const MEASURED_BYTES_MAX = 16 * 1_024
const FIELDS_MAX = 50
const DEPTH_MAX = 3
/** Stand for the fields of lines that are not JSON objects, of lines that are too long, and of the punctuation and the rest of a line. */
export const TEXT_FIELD = '@text'
export const LONG_FIELD = '@long'

/** A row of a block that is sampled, before its pattern is known. */
export type SampledRow = Omit<LineSample, 'pattern'>

/** Chooses lines by chance, in proportion to their lengths. Steps vary, so that nothing that repeats in the data can agree with them. */
export class LineSampler {
  readonly #random: () => number
  #left: number

  constructor(random: () => number) {
    this.#random = random
    // Where a stream of steps stands at a random byte, which lies in a long step more often than in a short one.
    this.#left = random() * SAMPLE_BYTES * Math.sqrt(2 * random() + 0.25)
  }

  /** The bytes for which a line stands; 0 when it is not chosen. */
  weigh(length: number): number {
    this.#left -= length
    let bytes = 0
    for (; this.#left <= 0; bytes += SAMPLE_BYTES) this.#left += SAMPLE_BYTES * (0.5 + this.#random())
    return bytes
  }
}

/** Divides the bytes for which a line stands among its fields. */
export function sampledRow(line: Uint8Array, bytes: number): SampledRow {
  const sizes = line.length > MEASURED_BYTES_MAX ? [[LONG_FIELD, 1] as const] : fieldSizes(line)
  const whole = sizes.reduce((sum, [, size]) => sum + size, 0)
  return { bytes, fields: sizes.map(([name, size]) => [name, (bytes * size) / whole] as const) }
}

function fieldSizes(line: Uint8Array): (readonly [string, number])[] {
  const sizes = new Map<string, number>()
  const parsed = parseObject(line)
  if (!parsed) return [[TEXT_FIELD, 1]]
  measure(parsed, '', 1, sizes)
  const largest = [...sizes].sort(([, a], [, b]) => b - a)
  const rest = largest.slice(FIELDS_MAX).reduce((sum, [, size]) => sum + size, 0)
  const listed = largest.slice(0, FIELDS_MAX)
  return rest > 0 ? [...listed, ['', rest]] : listed.length > 0 ? listed : [[TEXT_FIELD, 1]]
}

/** Adds the lengths of members with their names; those of nested objects by their paths. */
function measure(object: object, prefix: string, depth: number, sizes: Map<string, number>): void {
  for (const [name, value] of Object.entries(object)) {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value) && depth < DEPTH_MAX
    if (isNested) measure(value, path, depth + 1, sizes)
    const own = name.length + 4 + (isNested ? 2 : (JSON.stringify(value)?.length ?? 0))
    if (!isNested || Object.keys(value).length === 0) sizes.set(path, (sizes.get(path) ?? 0) + own)
  }
}

function parseObject(line: Uint8Array): object | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8'))
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}
