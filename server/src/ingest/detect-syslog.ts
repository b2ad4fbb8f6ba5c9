import type { Instant } from '../events/shred/time-text.ts'
import type { Pair } from './batch.ts'
import type { Header } from './detect-plain.ts'
import { isoTime, namedMonthTime } from './detect-time.ts'

const facilities =
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7'.split(
    ' ',
  )
const severities = 'emerg alert crit err warning notice info debug'.split(' ')

const PRIORITY = /^<(\d{1,3})>/
const MODERN = /^(\d{1,2}) (-|\S{10,64}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) (-|\[)/
const DATE =
  /^(?:([A-Z][a-z]{2}) ( ?\d{1,2}) (?:(\d{4}) )?(\d\d:\d\d:\d\d(?:\.\d{1,9})?)|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?)):? /
const SENDER = /^([\w.:-]{1,255}) ([\w./@()-]{1,128})(?:\[(\d{1,10})\])?: ?/
const NONE = '-'

/** syslog reads RFC 5424, and the older form with or without its priority. */
export function syslog(text: string, at: Instant): Header | undefined {
  const priority = PRIORITY.exec(text)
  const number = Number(priority?.[1])
  if (priority && number > 191) return undefined
  const rest = text.slice(priority?.[0].length ?? 0)
  const said = priority ? priorityKeys(number) : []
  return (priority && modern(rest, said)) ?? old(rest, said, at)
}

const priorityKeys = (number: number): Pair[] => {
  const severity = severities[number % 8] ?? ''
  return [
    ['pri', String(number)],
    ['facility', facilities[Math.floor(number / 8)] ?? ''],
    ['severity', severity],
    ['level', severity],
  ]
}

function modern(text: string, said: readonly Pair[]): Header | undefined {
  const match = MODERN.exec(text)
  if (!match) return undefined
  const [whole, version = '', timeText = '', ...names] = match
  const data = structuredData(text, whole.length - 1)
  if (!data) return undefined
  const named = (['hostname', 'appname', 'procid', 'msgid'] as const).map((name, index): Pair => [name, names[index] ?? NONE])
  const message = text.slice(data.end).replace(/^ ?\ufeff?/, '')
  const keys: Pair[] = [...said, ['version', version], ...named.filter(([, value]) => value !== NONE), ...data.keys, ['message', message]]
  const time = timeText === NONE ? undefined : isoTime(timeText)
  return { keys, time, timeText: timeText === NONE ? undefined : timeText, rest: message, isWhole: false }
}

/** structuredData reads `[id name="value" …]…` or `-`; in values, quotes, backslashes and closing brackets are escaped. */
function structuredData(text: string, start: number): { keys: Pair[]; end: number } | undefined {
  if (text[start] === NONE) return { keys: [], end: start + 1 }
  const keys: Pair[] = []
  let at = start
  while (text[at] === '[') {
    const id = /^\[([^\s=\]"]{1,64})/.exec(text.slice(at, at + 66))?.[1]
    if (id === undefined) return undefined
    at += id.length + 1
    for (;;) {
      PARAMETER.lastIndex = at
      const parameter = PARAMETER.exec(text)
      if (!parameter) break
      keys.push([`${id}.${parameter[1]}`, (parameter[2] ?? '').replace(/\\(["\\\]])/g, '$1')])
      at = PARAMETER.lastIndex
    }
    if (text[at] !== ']') return undefined
    at += 1
  }
  return { keys, end: at }
}

const PARAMETER = / ([^\s=\]"]{1,64})="((?:[^"\\]|\\.)*)"/y

function old(text: string, said: readonly Pair[], at: Instant): Header | undefined {
  const date = DATE.exec(text)
  if (!date && said.length === 0) return undefined
  const [dateText = '', month = '', day = '', year, clock = '', iso] = date ?? []
  const behind = text.slice(dateText.length)
  const sender = SENDER.exec(behind)
  // Without a priority only date and sender together are syslog; an ISO time alone may stand in front of anything.
  if (!sender && said.length === 0) return undefined
  if (iso !== undefined && said.length === 0) return undefined
  const [senderText = '', hostname, appname, procid] = sender ?? []
  const message = behind.slice(senderText.length)
  const named: (readonly [string, string | undefined])[] = [
    ['hostname', hostname],
    ['appname', appname],
    ['procid', procid],
  ]
  const keys = [
    ...said,
    ...named.flatMap(([name, value]): Pair[] => (value === undefined ? [] : [[name, value]])),
    ['message', message] as const,
  ]
  const time = date ? (iso === undefined ? namedMonthTime({ year, month, day, clock }, at) : isoTime(iso)) : undefined
  return { keys, time, timeText: date ? dateText.trim().replace(/:$/, '') : undefined, rest: message, isWhole: false }
}
