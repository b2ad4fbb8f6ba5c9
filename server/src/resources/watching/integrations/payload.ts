/** The values of the placeholders that a payload may use, by name without the `$`. */
export type Placeholders = Readonly<Record<(typeof placeholderNames)[number], string>>

const placeholderNames = [
  'title',
  'description',
  'alert_id',
  'monitor_id',
  'monitor_name',
  'monitor_type',
  'monitor_link',
  'status',
  'previous_status',
  'current_value',
  'threshold',
  'group',
  'groups',
  'query',
  'start_time_window',
  'end_time_window',
  'region',
  'samples',
  'report',
] as const

/** Longest names first, so that $groups does not match $group. */
const NAMED = new RegExp(`\\$(${[...placeholderNames].sort((a, b) => b.length - a.length).join('|')})`, 'g')
const NUMERIC: ReadonlySet<string> = new Set(['current_value', 'threshold', 'start_time_window', 'end_time_window'])

/**
 * Replaces placeholders, escaped for JSON strings. Outside of strings, a numeric placeholder without a valid number becomes null. Unknown
 * placeholders stay as they are.
 */
export function renderPayload(payload: string | undefined, values: Placeholders): string {
  if (payload === undefined || payload === '') {
    const { title, description, alert_id, status, monitor_id } = values
    return JSON.stringify({ title, description, alert_id, status, monitor_id })
  }
  const texts = textsIn(payload)
  return payload.replace(NAMED, (_, name: keyof Placeholders, at: number) => {
    const value = values[name]
    const isInText = texts.some(({ from, to }) => at >= from && at < to)
    if (!isInText && NUMERIC.has(name)) return value !== '' && Number.isFinite(Number(value)) ? value : 'null'
    return JSON.stringify(value).slice(1, -1)
  })
}

/** Replaces placeholders without escaping. */
export const renderText = (payload: string, values: Placeholders): string =>
  payload.replace(NAMED, (_, name: keyof Placeholders) => values[name])

/** The positions of the strings of a JSON document. */
const textsIn = (payload: string): { from: number; to: number }[] =>
  [...payload.matchAll(/"(?:[^"\\]|\\.)*"/gs)].map(({ index, 0: text }) => ({ from: index, to: index + text.length }))

/** True if the payload is valid JSON after its placeholders are replaced. */
export function isValidPayload(payload: string): boolean {
  try {
    JSON.parse(renderPayload(payload, samplePlaceholders))
    return true
  } catch {
    return false
  }
}

/** The values of a test notification. Numbers are numeric, so that payloads may use them without quotes. */
export const samplePlaceholders: Placeholders = {
  title: 'ALERT: A test notification',
  description: 'This is a test. Nothing has happened.',
  alert_id: '00000000-0000-4000-8000-000000000000',
  monitor_id: '00000000-0000-4000-8000-000000000000',
  monitor_name: 'A test notification',
  monitor_type: 'PATTERN',
  monitor_link: '',
  status: 'alert',
  previous_status: 'ok',
  current_value: '12',
  threshold: '10',
  group: '',
  groups: '',
  query: 'count(*)',
  start_time_window: '0',
  end_time_window: '0',
  region: 'test',
  samples: '',
  report: '',
}
