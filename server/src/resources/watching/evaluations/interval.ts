/** The time between two evaluations of a monitor. */
export const INTERVAL_MS = 60_000
