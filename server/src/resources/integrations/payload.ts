/** Placeholders are what a webhook's payload may name, without the sign before them. */
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
] as const

/** The longest names come first, so that $groups is not taken for $group and a letter. */
const NAMED = new RegExp(`\\$(${[...placeholderNames].sort((a, b) => b.length - a.length).join('|')})`, 'g')

/**
 * renderPayload puts values in the places of placeholders; each is escaped as the inside of a JSON text, so that no value ends the text it stands
 * in. What is no placeholder stays as it is.
 */
export function renderPayload(payload: string | undefined, values: Placeholders): string {
  if (payload === undefined || payload === '') {
    const { title, description, alert_id, status, monitor_id } = values
    return JSON.stringify({ title, description, alert_id, status, monitor_id })
  }
  return payload.replace(NAMED, (_, name: keyof Placeholders) => JSON.stringify(values[name]).slice(1, -1))
}

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
}
