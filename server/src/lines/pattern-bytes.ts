import { isUtf8 } from 'node:buffer'
import { repaired } from './repaired.ts'

/** Classes of bytes, named after the expressions of pattern.ts. */
const WORD = 1
const LETTER = 2
const SEGMENT = 4
const NAME = 8
const DELIMITER = 16
/** A word without such bytes stays as it is, unless it names a day or a user. */
const VARIABLE = 32
/** Punctuation that ends a sentence. */
const STOP = 64
/** The first letters of days and months. */
const DATE_INITIAL = 128

const kinds = makeKinds()

function makeKinds(): Uint8Array {
  const made = new Uint8Array(256)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  const lower = 'abcdefghijklmnopqrstuvwxyz'
  mark(lower + lower.toUpperCase(), WORD | LETTER | SEGMENT | NAME)
  mark('0123456789_', WORD | SEGMENT | NAME)
  mark('-$', SEGMENT | NAME)
  mark('.:', NAME)
  mark('\0', SEGMENT | VARIABLE)
  mark('=/.', VARIABLE)
  mark('()[]{}<>,;"\'|', DELIMITER)
  mark('.:!?', STOP)
  mark('JFMASONDTW', DATE_INITIAL)
  return made
}

const MASK = 0
const [SPACE, DOLLAR, OPEN, CLOSE, COMMA, DOT, SLASH, COLON, EQUALS] = [0x20, 0x24, 0x28, 0x29, 0x2c, 0x2e, 0x2f, 0x3a, 0x3d]
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d]
/** Fits the longest masked message when all its bytes are replaced by U+FFFD and all of its parentheses are filled. */
const PATTERN_BYTES_MAX = 8_192
const MONTH_TAIL_MAX = 6
const DAY_TAIL_MAX = 9

const first3 = (text: string): number => text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16)
const dayNames = new Set(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map(first3))
const monthNames = new Set(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'].map(first3))
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const DAY = bytesOf('day')
const USER = bytesOf('user')
const BY = bytesOf('by')
const FROM = bytesOf('from')
const SCHEME = bytesOf('://')
const failures = ['Exception', 'Error', 'Warning', 'Failure'].map(bytesOf)

/** Computes the pattern of a masked message as patternOf does, on bytes: most messages need no string. A result holds until the next. */
export class PatternWriter {
  readonly out = new Uint8Array(PATTERN_BYTES_MAX)
  used = 0
  private masked: Uint8Array = this.out
  private length = 0

  write(masked: Uint8Array, length: number): void {
    const { out } = this
    this.masked = masked
    this.length = length
    this.used = 0
    let all = 0
    let kept = 0
    let keptEnd = -1
    let before = -1
    for (let start = 0; ; ) {
      if (start > 0) out[this.used++] = SPACE
      const from = this.used
      // Most words are unchanged, so they are copied while they are checked.
      let end = start
      let put = from
      let seen = 0
      for (; end < length; end += 1) {
        const byte = masked[end] as number
        if (byte === SPACE) break
        all |= byte
        seen |= kinds[byte] as number
        out[put++] = byte
      }
      this.used = put
      if (this.isSpecial(start, end, before) || seen & VARIABLE) {
        this.used = from
        this.word(start, end, before, seen)
      }
      if (this.isRepeated(from, kept, keptEnd)) this.used = from - 1
      else {
        kept = from
        keptEnd = this.used
      }
      if (end >= length) break
      before = start
      start = end + 1
    }
    if (all <= 0x7f || isUtf8(masked.subarray(0, length))) return
    // The string of such a message has replacement characters.
    const text = repaired(masked.subarray(0, length))
    this.write(text, text.length)
  }

  /** True when the word that was just written repeats the one before, and both have masks. */
  private isRepeated(from: number, kept: number, keptEnd: number): boolean {
    const { out, used } = this
    const length = used - from
    if (length < 2 || keptEnd - kept !== length) return false
    let hasMask = false
    for (let at = 0; at < length; at += 1) {
      const byte = out[from + at]
      if (byte !== out[kept + at]) return false
      if (byte === MASK) hasMask = true
    }
    return hasMask
  }

  /** True for a word that may name a day or a user, or is `()`. */
  private isSpecial(start: number, end: number, before: number): boolean {
    const { masked } = this
    if (end - start > 2 && (kinds[masked[start] as number] as number) & DATE_INITIAL) return true
    if (before >= 0 && start - before === USER.length + 1 && this.isAt(USER, before)) return true
    return end - start === 2 && masked[start] === OPEN
  }

  private word(start: number, end: number, before: number, seen: number): void {
    const { masked, out } = this
    if (this.isDate(start, end)) out[this.used++] = MASK
    else if (before >= 0 && end - start === 2 && masked[start] === OPEN && masked[start + 1] === CLOSE) {
      out[this.used++] = OPEN
      out[this.used++] = MASK
      out[this.used++] = CLOSE
    } else if (before >= 0 && start - before === USER.length + 1 && this.isAt(USER, before) && this.isUser(start, end)) {
      out[this.used++] = MASK
      if (masked[end - 1] === COMMA) out[this.used++] = COMMA
    } else if (seen & VARIABLE) this.pieces(start, end)
    else this.copy(start, end)
  }

  private isAt(word: Uint8Array, start: number): boolean {
    for (let at = 0; at < word.length; at += 1) if (this.masked[start + at] !== word[at]) return false
    return true
  }

  private isDate(start: number, end: number): boolean {
    const isBeforeMask = end + 1 < this.length && this.masked[end + 1] === MASK
    if (this.isMonth(start, end)) return isBeforeMask
    return this.isDay(start, end) && (isBeforeMask || this.isMonth(end + 1, this.wordEnd(end + 1)))
  }

  private wordEnd(start: number): number {
    let end = start
    while (end < this.length && this.masked[end] !== SPACE) end += 1
    return end
  }

  private nameAt(start: number): number {
    const { masked } = this
    return (masked[start] as number) | ((masked[start + 1] as number) << 8) | ((masked[start + 2] as number) << 16)
  }

  private isMonth(start: number, end: number): boolean {
    if (end - start < 3 || !monthNames.has(this.nameAt(start))) return false
    const to = this.masked[end - 1] === COMMA ? end - 1 : end
    return to - start - 3 <= MONTH_TAIL_MAX && this.isLowerCase(start + 3, to)
  }

  private isDay(start: number, end: number): boolean {
    if (end - start < 3 || !dayNames.has(this.nameAt(start))) return false
    const to = this.masked[end - 1] === COMMA ? end - 1 : end
    const tail = to - start - 3
    if (tail === 0) return true
    return tail >= DAY.length && tail <= DAY_TAIL_MAX && this.isLowerCase(start + 3, to) && this.isAt(DAY, to - DAY.length)
  }

  private isLowerCase(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) {
      const byte = this.masked[at] as number
      if (byte < 0x61 || byte > 0x7a) return false
    }
    return true
  }

  /** True when the word behind `user` is a plain name that ends the message or comes before a comma, `by` or `from`. */
  private isUser(start: number, end: number): boolean {
    const { masked } = this
    const first = masked[start] as number
    if (start >= end || !(first === MASK || first === 0x5f || (first >= 0x61 && first <= 0x7a))) return false
    const hasComma = masked[end - 1] === COMMA
    for (let at = start; at < (hasComma ? end - 1 : end); at += 1) {
      const byte = masked[at] as number
      if (!((kinds[byte] as number) & SEGMENT) || byte === DOLLAR) return false
    }
    if (hasComma || end >= this.length) return true
    const length = this.wordEnd(end + 1) - end - 1
    return (length === BY.length && this.isAt(BY, end + 1)) || (length === FROM.length && this.isAt(FROM, end + 1))
  }

  private copy(start: number, end: number): void {
    const { masked, out } = this
    let put = this.used
    for (let at = start; at < end; at += 1) out[put++] = masked[at] as number
    this.used = put
  }

  /** Writes a word by the pieces between its delimiters. */
  private pieces(start: number, end: number): void {
    const { masked, out } = this
    for (let at = start; at < end; ) {
      let stop = at
      let seen = 0
      for (; stop < end; stop += 1) {
        const kind = kinds[masked[stop] as number] as number
        if (kind & DELIMITER) break
        seen |= kind
      }
      const from = this.used
      if (seen & VARIABLE) this.piece(at, stop)
      else this.copy(at, stop)
      const { used } = this
      if (stop >= end) return
      // The content of a brace belongs to the value before.
      const isValue = used - from > 1 && out[used - 1] === MASK && out[used - 2] === EQUALS
      if (isValue && masked[stop] === OPEN_BRACE) at = this.closing(stop, end)
      else {
        out[this.used++] = masked[stop] as number
        at = stop + 1
      }
    }
  }

  /** The position behind the brace that closes the one at `open`, or the end. */
  private closing(open: number, end: number): number {
    let depth = 0
    for (let at = open; at < end; at += 1) {
      if (this.masked[at] === OPEN_BRACE) depth += 1
      if (this.masked[at] === CLOSE_BRACE) depth -= 1
      if (depth === 0) return at + 1
    }
    return end
  }

  private piece(start: number, end: number): void {
    const { masked, out } = this
    const equals = this.indexOf(EQUALS, start, end)
    if (equals > start && equals < end - 1 && this.isName(start, equals)) {
      this.copy(start, equals + 1)
      out[this.used++] = MASK
      return
    }
    if (this.hasScheme(start, end)) {
      this.name(start, end)
      return
    }
    for (let at = start; ; ) {
      let stop = at
      while (stop < end && masked[stop] !== COLON) stop += 1
      this.name(at, stop)
      if (stop >= end) return
      out[this.used++] = COLON
      at = stop + 1
    }
  }

  private indexOf(byte: number, start: number, end: number): number {
    for (let at = start; at < end; at += 1) if (this.masked[at] === byte) return at
    return -1
  }

  private hasScheme(start: number, end: number): boolean {
    for (let at = start; at <= end - SCHEME.length; at += 1) if (this.masked[at] === COLON && this.isAt(SCHEME, at)) return true
    return false
  }

  private isName(start: number, end: number): boolean {
    let seen = 0
    for (let at = start; at < end; at += 1) {
      const kind = kinds[this.masked[at] as number] as number
      if (!(kind & NAME)) return false
      seen |= kind
    }
    return (seen & LETTER) !== 0
  }

  private name(start: number, end: number): void {
    const { masked } = this
    let to = end
    while (to > start && (kinds[masked[to - 1] as number] as number) & STOP) to -= 1
    if (this.isPath(start, to) || this.isDottedName(start, to)) this.out[this.used++] = MASK
    else this.withOneMask(start, to)
    this.copy(to, end)
  }

  private isPath(start: number, end: number): boolean {
    const { masked } = this
    const first = this.indexOf(SLASH, start, end)
    if (first < 0) return false
    let isTelling = first === start
    let hasWord = false
    for (let at = start; at < end; at += 1) {
      const byte = masked[at] as number
      if (byte === DOT || (byte === SLASH && at > first)) isTelling = true
      else if (byte === MASK || (kinds[byte] as number) & WORD) hasWord = true
    }
    return isTelling && hasWord
  }

  private isDottedName(start: number, end: number): boolean {
    const { masked } = this
    let dots = 0
    let last = start
    for (let at = start; at < end; at += 1) {
      const byte = masked[at] as number
      if (byte === DOT) {
        if (at === last) return false
        dots += 1
        last = at + 1
      } else if (!((kinds[byte] as number) & SEGMENT)) return false
    }
    return dots > 1 && last < end && !this.isTelling(last, end)
  }

  /** True for a constant or the class of a failure. */
  private isTelling(start: number, end: number): boolean {
    const { masked } = this
    for (const failure of failures) if (end - start >= failure.length && this.isAt(failure, end - failure.length)) return true
    if (end - start < 3) return false
    for (let at = start; at < end; at += 1) {
      const byte = masked[at] as number
      if (!((byte >= 0x41 && byte <= 0x5a) || (byte === 0x5f && at > start))) return false
    }
    return true
  }

  /** Merges masks that only characters of identifiers separate. */
  private withOneMask(start: number, end: number): void {
    const { masked } = this
    const first = this.indexOf(MASK, start, end)
    let last = first
    for (let at = first; first >= 0 && at < end; at += 1) if (masked[at] === MASK) last = at
    for (let at = first; at < last; at += 1) {
      const byte = masked[at] as number
      if (!((kinds[byte] as number) & SEGMENT) && byte !== DOT) last = first
    }
    this.copy(start, last > first ? first : end)
    if (last > first) this.copy(last, end)
  }
}
