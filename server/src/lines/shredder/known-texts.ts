const TEXT_BYTES_MAX = 32
const FORGOTTEN = -1

/** Some short texts, and a version that changes with any of them. */
export class KnownTexts {
  /** The version while a text is too long to be known. */
  static readonly NONE = -1
  private readonly texts: { readonly bytes: Uint8Array; length: number }[] = []
  private count = 0
  private long = 0

  get version(): number {
    return this.long === 0 ? this.count : KnownTexts.NONE
  }

  forget(): void {
    this.count += 1
    this.long = 0
    for (const text of this.texts) text.length = FORGOTTEN
  }

  /** Notes the text with a number. The numbers count up from 0. */
  note(number: number, source: Uint8Array, start: number, end: number): void {
    const known = this.texts[number]
    if (known === undefined || !isSame(known, source, start, end)) this.replace(number, source, start, end)
  }

  private replace(number: number, source: Uint8Array, start: number, end: number): void {
    const text = this.texts[number] ?? { bytes: new Uint8Array(TEXT_BYTES_MAX), length: 0 }
    this.texts[number] = text
    this.count += 1
    if (text.length > TEXT_BYTES_MAX) this.long -= 1
    text.length = end - start
    if (text.length > TEXT_BYTES_MAX) this.long += 1
    else for (let at = start; at < end; at += 1) text.bytes[at - start] = source[at] as number
  }
}

function isSame(
  { bytes, length }: { readonly bytes: Uint8Array; readonly length: number },
  source: Uint8Array,
  start: number,
  end: number,
): boolean {
  if (length !== end - start || length > TEXT_BYTES_MAX) return false
  for (let at = 0; at < length; at += 1) if (bytes[at] !== source[start + at]) return false
  return true
}
