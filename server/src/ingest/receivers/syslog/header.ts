/** The names in the header of a message that decide its dataset and its host. */
export type SyslogNames = { app: string | undefined; hasHost: boolean }

/** Longer headers than this are not read. */
const HEADER_CHARS_MAX = 512
const PRIORITY = /^(?:\ufeff)?<(\d{1,3})>/
const MODERN = /\d{1,2} (?:-|\S{10,64}) (\S{1,255}) (\S{1,48}) /y
const DATE =
  /(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?|[A-Z][a-z]{2} [ \d]?\d (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d{1,9})?):? /y
const SENDER = /([\w.:-]{1,255}) ([\w./@()-]{1,128})(?:\[\d{1,10}\])?: ?/y
const NONE = '-'
const UNKNOWN: SyslogNames = { app: undefined, hasHost: false }

/** Reads the application from the header of RFC 5424 or of the older format; the text behind the header is not read. */
export function syslogNames(message: Uint8Array): SyslogNames {
  const length = Math.min(message.length, HEADER_CHARS_MAX)
  const text = Buffer.from(message.buffer, message.byteOffset, length).toString('latin1')
  const start = PRIORITY.exec(text)?.[0].length ?? 0
  const modern = start === 0 ? null : matchAt(MODERN, text, start)
  if (modern) return { app: nameOf(modern[2]), hasHost: modern[1] !== NONE }
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
