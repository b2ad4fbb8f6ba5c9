import { derivedLeaf, type FoundLeaf, type FoundTime, leafAt } from '../../lines/reference/text-line.ts'
import type { Instant } from '../../lines/values/time-text.ts'
import type { Header } from './plain.ts'
import { isoTime, namedTimes } from './time.ts'

export const facilities: readonly string[] =
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7'.split(
    ' ',
  )
export const severities: readonly string[] = 'emerg alert crit err warning notice info debug'.split(' ')

const NUMBER = /^\d(?:\.0+)?$/

/** The word for a severity that is written as a number from 0 to 7; any other text as it is. */
export const severityWord = (written: string): string => (NUMBER.test(written) ? severities[Number(written)] : undefined) ?? written

const PRIORITY = /<(\d{1,3})>/y
const MODERN = /(\d{1,2}) (-|\S{10,64}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) (?=-|\[)/y
/** Heroku leaves out the structured data and the sign that there is none. */
const DRAIN = /(1) (\d{4}-\d\d-\d\dT\S{8,48}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (-) (?=\S)/y
const NAMED_DATE = /([A-Z][a-z]{2}) ( ?\d{1,2}) (?:(\d{4}) )?(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?=:? )/y
const ISO_DATE = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?(?=:? )/y
const BEHIND_DATE = /(?: UTC(?=: ))?:? /y
/** In front of a time, network devices write how many messages they have sent, their name, and a sign for a clock that is not exact. */
const DEVICE = /(?:(?:\d{1,10}: )?(\d{1,10}): (?:([\w.:-]{1,255}): )?)?[*.]?/dy
const SENDER = /([\w.:-]{1,255}) ([\w./@()-]{1,128})(?:\[(\d{1,10})\])?: ?/y
const [LESS, UPPER_A, UPPER_Z] = [0x3c, 0x41, 0x5a]
const NONE = '-'

/** The times of the older format. */
const timeAt = namedTimes((text, start) => {
  const match = at(NAMED_DATE, text, start)
  if (!match) return undefined
  const [whole, month = '', day = '', year, clock = '', fraction] = match
  const layout = year === undefined ? 'b' : 'y'
  return { layout, text: whole, year, month, day, clock, fraction, tail: '' }
})

/** Reads RFC 5424, and the older BSD format with or without its priority. */
export function syslog(text: string, arrival: Instant): Header | undefined {
  const first = text.charCodeAt(0)
  // Without a priority such a line begins with the name of a month.
  if (first !== LESS && !(first >= UPPER_A && first <= UPPER_Z && text.charAt(3) === ' ')) return undefined
  const priority = at(PRIORITY, text, 0)
  if (priority && Number(priority[1]) > 191) return undefined
  const start = priority?.[0].length ?? 0
  const said = priority ? priorityLeaves(priority[1] ?? '') : []
  const header = (priority && modern(text, start, said)) ?? old(text, start, said, arrival)
  if (!header) return undefined
  // Senders give every line of a file the same priority, so the level of the line itself counts first.
  return { ...header, isEnvelope: true, ...(priority ? { fallback: levelLeaves(Number(priority[1])) } : {}) }
}

function levelLeaves(priority: number): FoundLeaf[] {
  const severity = severities[priority % 8] ?? ''
  return [derivedLeaf('severity', severity), derivedLeaf('level', severity)]
}

function priorityLeaves(written: string): FoundLeaf[] {
  const number = Number(written)
  return [
    String(number) === written ? leafAt('pri', written, 1) : derivedLeaf('pri', String(number)),
    derivedLeaf('facility', facilities[Math.floor(number / 8)] ?? ''),
  ]
}

function modern(text: string, start: number, said: readonly FoundLeaf[]): Header | undefined {
  const match = at(MODERN, text, start) ?? at(DRAIN, text, start)
  if (!match) return undefined
  const [whole, version = '', timeText = '', ...names] = match
  const data = structuredData(text, start + whole.length)
  if (!data) return undefined
  const leaves = [...said, leafAt('version', version, start)]
  const timeStart = start + version.length + 1
  let nameStart = timeStart + timeText.length + 1
  for (const [index, path] of (['hostname', 'appname', 'procid', 'msgid'] as const).entries()) {
    const name = names[index] ?? NONE
    if (name !== NONE) leaves.push(leafAt(path, name, nameStart))
    nameStart += name.length + 1
  }
  const messageStart = data.end + (/^ ?\ufeff?/.exec(text.slice(data.end, data.end + 2))?.[0].length ?? 0)
  leaves.push(...data.leaves, leafAt('message', text.slice(messageStart), messageStart))
  return { leaves, time: modernTime(text, timeStart, timeText), restStart: messageStart, wordsStart: text.length, isWhole: false }
}

function modernTime(text: string, start: number, written: string): FoundTime | undefined {
  if (written === NONE) return undefined
  const time = isoTime(text, start)
  const end = start + written.length
  return time?.end === end ? time : { instant: undefined, format: undefined, start, end }
}

/** Reads `[id name="value" …]…` or `-`. In values, quotes, backslashes and closing brackets are escaped. */
function structuredData(text: string, start: number): { leaves: FoundLeaf[]; end: number } | undefined {
  if (text[start] === NONE) return { leaves: [], end: start + 1 }
  const leaves: FoundLeaf[] = []
  let place = start
  while (text[place] === '[') {
    const id = at(ELEMENT, text, place)?.[1]
    if (id === undefined) return undefined
    place += id.length + 1
    for (let parameter = at(PARAMETER, text, place); parameter; parameter = at(PARAMETER, text, place)) {
      const [whole, name = '', value = ''] = parameter
      const path = `${id}.${name}`
      const plain = value.includes('\\') ? value.replace(/\\(["\\\]])/g, '$1') : value
      leaves.push(plain === value ? leafAt(path, value, place + name.length + 3) : derivedLeaf(path, plain))
      place += whole.length
    }
    if (text[place] !== ']') return undefined
    place += 1
  }
  return { leaves, end: place }
}

const ELEMENT = /\[([^\s=\]"]{1,64})/y
const PARAMETER = / ([^\s=\]"]{1,64})="((?:[^"\\]|\\.)*)"/y

function old(text: string, start: number, said: readonly FoundLeaf[], arrival: Instant): Header | undefined {
  const device = said.length > 0 ? at(DEVICE, text, start) : null
  const dateStart = start + (device?.[0].length ?? 0)
  const time = timeAt(text, dateStart, arrival) ?? (said.length > 0 ? isoDate(text, dateStart) : undefined)
  if (!time && said.length === 0) return undefined
  if (time && device?.[1] !== undefined) return ofDevice(text, said, device, time)
  const behind = time ? time.end + (at(BEHIND_DATE, text, time.end)?.[0].length ?? 0) : start
  const sender = at(SENDER, text, behind)
  // Without a priority, a date counts as syslog only together with a sender.
  if (!sender && said.length === 0) return undefined
  const leaves = [...said]
  if (sender) {
    const [, hostname = '', appname = '', procid] = sender
    const appStart = behind + hostname.length + 1
    leaves.push(leafAt('hostname', hostname, behind), leafAt('appname', appname, appStart))
    if (procid !== undefined) leaves.push(leafAt('procid', procid, appStart + appname.length + 1))
  }
  const messageStart = behind + (sender?.[0].length ?? 0)
  leaves.push(leafAt('message', text.slice(messageStart), messageStart))
  return { leaves, time, restStart: messageStart, wordsStart: text.length, isWhole: false }
}

/** Reads a message of a network device. It begins with a code after the time, and names no program. */
function ofDevice(
  text: string,
  said: readonly FoundLeaf[],
  { indices, 1: sequence = '', 2: hostname }: RegExpExecArray,
  time: FoundTime,
): Header {
  const leaves = [...said, leafAt('sequence', sequence, indices?.[1]?.[0] ?? 0)]
  if (hostname !== undefined) leaves.push(leafAt('hostname', hostname, indices?.[2]?.[0] ?? 0))
  const messageStart = time.end + (at(BEHIND_DATE, text, time.end)?.[0].length ?? 0)
  leaves.push(leafAt('message', text.slice(messageStart), messageStart))
  return { leaves, time, restStart: messageStart, wordsStart: text.length, isWhole: false }
}

/** Reads the ISO time that some programs write in the BSD format. */
function isoDate(text: string, start: number): FoundTime | undefined {
  const written = at(ISO_DATE, text, start)?.[0]
  if (written === undefined) return undefined
  const end = start + written.length
  const time = isoTime(`${written} `, 0)
  return { instant: time?.instant, format: time?.format, start, end }
}

function at(pattern: RegExp, text: string, place: number): RegExpExecArray | null {
  pattern.lastIndex = place
  return pattern.exec(text)
}
