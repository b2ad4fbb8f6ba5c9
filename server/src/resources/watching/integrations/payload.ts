/** Placeholders are what a payload may name, without the sign before them. */
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

/** The longest names come first, so that $groups is not taken for $group and a letter. */
const NAMED = new RegExp(`\\$(${[...placeholderNames].sort((a, b) => b.length - a.length).join('|')})`, 'g')
const NUMERIC: ReadonlySet<string> = new Set(['current_value', 'threshold', 'start_time_window', 'end_time_window'])

/**
 * renderPayload puts values in the places of placeholders; each is escaped as the inside of a JSON text, so that no value ends the text it stands
 * in. Outside of texts a number that is none, or that JSON cannot write, is null. What is no placeholder stays as it is.
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

/** renderText puts values in the places of placeholders as they are. */
export const renderText = (payload: string, values: Placeholders): string =>
  payload.replace(NAMED, (_, name: keyof Placeholders) => values[name])

/** textsIn finds the texts of a JSON document, which may have placeholders in it. */
const textsIn = (payload: string): { from: number; to: number }[] =>
  [...payload.matchAll(/"(?:[^"\\]|\\.)*"/gs)].map(({ index, 0: text }) => ({ from: index, to: index + text.length }))

/** isSoundPayload tells whether a payload is JSON once its placeholders are replaced. */
export function isSoundPayload(payload: string): boolean {
  try {
    JSON.parse(renderPayload(payload, samplePlaceholders))
    return true
  } catch {
    return false
  }
}

/** samplePlaceholders are what a test notification tells; numbers are numbers, so that payloads may use them without quotes. */
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
