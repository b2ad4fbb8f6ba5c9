const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The time of an event: 2026-11-21 12:00:00.123 UTC. */
export function eventTimeText(ms: number): string {
  const iso = new Date(ms).toISOString()
  return `${iso.slice(0, -14)} ${iso.slice(-13, -1)} UTC`
}

/** The time of a slice or a running search: Sat Nov 21 12:00:00 UTC 2026. */
export function sliceTimeText(ms: number): string {
  const date = new Date(ms)
  const day = String(date.getUTCDate()).padStart(2, '0')
  const clock = date.toISOString().slice(-13, -5)
  return `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${day} ${clock} UTC ${date.getUTCFullYear()}`
}
