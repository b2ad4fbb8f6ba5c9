/** INTERVAL_MS is how often every monitor is evaluated. */
export const INTERVAL_MS = 60_000
