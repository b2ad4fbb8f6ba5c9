import type { Instant } from '../events/shred/time-text.ts'
import type { Pair } from './batch.ts'
import type { Header } from './detect-plain.ts'
import { namedMonthTime } from './detect-time.ts'

const ACCESS =
  /^(?:([\w.-]+(?::\d+)?) )?(\S+) (\S+) (\S+) \[((\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4}))\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/
const REQUEST = /^([A-Z]{3,20}) (\S+)(?: (HTTP\/[\d.]+))?$/
const NONE = '-'

/** accessLog reads the common and the combined form of web servers' access logs, also with the name of the virtual host in front. */
export function accessLog(text: string, at: Instant): Header | undefined {
  const match = ACCESS.exec(text)
  if (!match) return undefined
  const [, vhost, client, , user, timeText, day = '', month = '', year, clock = '', zone, request = '', status, bytes, referer, agent] =
    match
  const [, method, path, protocol] = REQUEST.exec(request) ?? []
  const said: (readonly [string, string | undefined])[] = [
    ['vhost', vhost],
    ['client_ip', client],
    ['user', user],
    ['method', method],
    ['path', path ?? request],
    ['protocol', protocol],
    ['status', status],
    ['bytes', bytes],
    ['referer', referer],
    ['user_agent', agent],
  ]
  return {
    keys: said.flatMap(([name, value]): Pair[] => (value === undefined || value === NONE || value === '' ? [] : [[name, value]])),
    time: namedMonthTime({ year, month, day, clock, zone: zone && `${zone.slice(0, 3)}:${zone.slice(3)}` }, at),
    timeText,
    rest: '',
    isWhole: true,
  }
}
