/** The names in the header of a message that decide its dataset and its host. */
export type SyslogNames = { app: string | undefined; hasHost: boolean }

/** Longer headers than this are not read. */
const HEADER_CHARS_MAX = 512
const PRIORITY = /^(?:\ufeff)?<(\d{1,3})>/
const MODERN = /\d{1,2} (?:-|\S{10,64}) (\S{1,255}) (\S{1,48}) /y
const DATE =
  /(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?|[A-Z][a-z]{2} [ \d]?\d (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d{1,9})?):? /y
/** The number and the name that network devices write in front of a time. */
const DEVICE = /(?:\d{1,10}: ){1,2}(?:([\w.:-]{1,255}): )?[*.]?/y
const SENDER = /([\w.:-]{1,255}) ([\w./@()-]{1,128})(?:\[\d{1,10}\])?: ?/y
const NONE = '-'
const UNKNOWN: SyslogNames = { app: undefined, hasHost: false }

/** Reads the application from the header of RFC 5424 or of the older format; the text after the header is not read. */
export function syslogNames(message: Uint8Array): SyslogNames {
  const length = Math.min(message.length, HEADER_CHARS_MAX)
  const text = Buffer.from(message.buffer, message.byteOffset, length).toString('latin1')
  const start = PRIORITY.exec(text)?.[0].length ?? 0
  const modern = start === 0 ? null : matchAt(MODERN, text, start)
  if (modern) return { app: nameOf(modern[2]), hasHost: modern[1] !== NONE }
  const device = start > 0 ? matchAt(DEVICE, text, start) : null
  if (device && matchAt(DATE, text, start + device[0].length)) return { app: undefined, hasHost: device[1] !== undefined }
  const date = matchAt(DATE, text, start)
  if (!date && start === 0) return UNKNOWN
  const sender = matchAt(SENDER, text, start + (date?.[0].length ?? 0))
  return sender ? { app: nameOf(sender[2]), hasHost: true } : UNKNOWN
}

/** The name without the path of the program, in lower case. */
function nameOf(written: string | undefined): string | undefined {
  const name = written?.slice(written.lastIndexOf('/') + 1).toLowerCase()
  return name === '' || name === NONE ? undefined : name
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const [SPACE, DASH, ZERO, NINE, COLON, LESS, MORE, OPENING, CLOSING, DELETE] = [0x20, 0x2d, 0x30, 0x39, 0x3a, 0x3c, 0x3e, 0x5b, 0x5d, 0x7f]
const PRIORITY_DIGITS_MAX = 3
const [VERSION_DIGITS_MAX, MODERN_HOST_MAX, MODERN_APP_MAX] = [2, 255, 48]
const [TIME_CHARS_MIN, TIME_CHARS_MAX] = [10, 64]
const [HOST_CHARS_MAX, APP_CHARS_MAX, ID_DIGITS_MAX] = [255, 128, 10]
/** `Nov 20 10:00:00 `: a letter in upper case, letters in lower case, and digits. */
const BSD_DATE = 'Aaa 00 00:00:00 '
/** The place of the first digit of its day, which may be a space. */
const TENS = 4
const NOT_FOUND = -1
const [DIGIT, HOST, APP, UPPER, LOWER] = [1, 2, 4, 8, 16]
const kinds = makeKinds()
const dateKinds = Array.from(BSD_DATE, (char) => (char === 'A' ? UPPER : char === 'a' ? LOWER : char === '0' ? DIGIT : 0))

function makeKinds(): Uint8Array {
  const made = new Uint8Array(256)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  const lower = 'abcdefghijklmnopqrstuvwxyz'
  mark('0123456789', DIGIT | HOST | APP)
  mark(lower, LOWER | HOST | APP)
  mark(lower.toUpperCase(), UPPER | HOST | APP)
  mark('_.-', HOST | APP)
  mark(':', HOST)
  mark('/@()', APP)
  return made
}

/** Reads the names of the messages of a body by their bytes, as syslogNames does. Messages mostly name the application of the one before. */
export class SyslogHeaders {
  app: string | undefined
  hasHost = false
  readonly #body: Uint8Array
  #appStart = 0
  #appEnd = 0
  #knownApp: string | undefined
  #knownStart = 0
  #knownEnd = 0

  constructor(body: Uint8Array) {
    this.#body = body
  }

  read(start: number, end: number): void {
    const to = Math.min(end, start + HEADER_CHARS_MAX)
    if (this.#readHeader(start, to)) {
      this.app = this.#name(this.#appStart, this.#appEnd)
      return
    }
    const { app, hasHost } = syslogNames(this.#body.subarray(start, end))
    this.app = app
    this.hasHost = hasHost
  }

  #readHeader(start: number, to: number): boolean {
    const bytes = this.#body
    if (start >= to) return false
    if (bytes[start] !== LESS) return this.#readOld(start, to)
    const end = this.#runEnd(start + 1, to, DIGIT)
    if (end === start + 1 || end - start - 1 > PRIORITY_DIGITS_MAX || end + 1 >= to || bytes[end] !== MORE) return false
    const first = bytes[end + 1] as number
    return first >= ZERO && first <= NINE ? this.#readModern(end + 1, to) : this.#readOld(end + 1, to)
  }

  #readModern(start: number, to: number): boolean {
    const bytes = this.#body
    const versionEnd = this.#runEnd(start, to, DIGIT)
    if (versionEnd - start > VERSION_DIGITS_MAX || versionEnd >= to || bytes[versionEnd] !== SPACE) return false
    const timeStart = versionEnd + 1
    const timeEnd = this.#wordEnd(timeStart, to)
    const length = timeEnd - timeStart
    if (length < TIME_CHARS_MIN ? length !== 1 || bytes[timeStart] !== DASH : length > TIME_CHARS_MAX) return false
    const hostStart = timeEnd + 1
    const hostEnd = this.#wordEnd(hostStart, to)
    const appStart = hostEnd + 1
    const appEnd = hostEnd < 0 ? NOT_FOUND : this.#wordEnd(appStart, to)
    if (appEnd < 0 || hostEnd - hostStart > MODERN_HOST_MAX || appEnd - appStart > MODERN_APP_MAX) return false
    this.hasHost = hostEnd - hostStart !== 1 || bytes[hostStart] !== DASH
    this.#appStart = appStart
    this.#appEnd = appEnd
    return true
  }

  #readOld(start: number, to: number): boolean {
    const bytes = this.#body
    const hostStart = start + BSD_DATE.length
    if (hostStart >= to || !this.#isDate(start)) return false
    const hostEnd = this.#runEnd(hostStart, to, HOST)
    const appStart = hostEnd + 1
    if (hostEnd === hostStart || hostEnd - hostStart > HOST_CHARS_MAX || appStart >= to || bytes[hostEnd] !== SPACE) return false
    const appEnd = this.#runEnd(appStart, to, APP)
    let at = appEnd
    if (at < to && bytes[at] === OPENING) {
      at = this.#runEnd(appEnd + 1, to, DIGIT)
      if (at === appEnd + 1 || at - appEnd - 1 > ID_DIGITS_MAX || at >= to || bytes[at] !== CLOSING) return false
      at += 1
    }
    if (appEnd === appStart || appEnd - appStart > APP_CHARS_MAX || at >= to || bytes[at] !== COLON) return false
    this.hasHost = true
    this.#appStart = appStart
    this.#appEnd = appEnd
    return true
  }

  #isDate(start: number): boolean {
    for (let at = 0; at < BSD_DATE.length; at += 1) {
      const byte = this.#body[start + at] as number
      const kind = dateKinds[at] as number
      if (kind === 0 ? byte !== BSD_DATE.charCodeAt(at) : !((kinds[byte] as number) & kind) && (at !== TENS || byte !== SPACE)) return false
    }
    return true
  }

  #name(start: number, end: number): string | undefined {
    const bytes = this.#body
    let isSame = end - start === this.#knownEnd - this.#knownStart
    for (let at = start; isSame && at < end; at += 1) isSame = bytes[at] === bytes[this.#knownStart + at - start]
    if (!isSame) {
      this.#knownStart = start
      this.#knownEnd = end
      this.#knownApp = nameOf(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1'))
    }
    return this.#knownApp
  }

  #runEnd(start: number, to: number, kind: number): number {
    let at = start
    while (at < to && (kinds[this.#body[at] as number] as number) & kind) at += 1
    return at
  }

  /** The end of a word of printable ASCII with a space after it, -1 for another text. */
  #wordEnd(start: number, to: number): number {
    const bytes = this.#body
    let at = start
    while (at < to && (bytes[at] as number) > SPACE && (bytes[at] as number) < DELETE) at += 1
    return at > start && at < to && bytes[at] === SPACE ? at : NOT_FOUND
  }
}
