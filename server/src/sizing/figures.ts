/**
 * What an installation needs for each gigabyte of events, from `docs/benchmarks.md`: always the most expensive kind of events that was measured, so that a plan is
 * on the safe side. `docs/scale.md` says what to measure with events of your own.
 */
export const figures = {
  /** CPU seconds that a process with the role `ingest` needs for a GB: text lines. */
  serviceCpuPerGb: 18,
  /** CPU seconds that the event store needs for a GB, with its merges: text lines. */
  storeCpuPerGb: 35,
  /** The most that one process takes with two cores, in MB/s: half of what text lines reached. */
  processMbPerSecond: 20,
  /** Bytes on disk for each byte of lines, before copies: text lines after all merges. */
  storedShare: 0.22,
  /** Merges write new parts before they drop the old ones. */
  mergeRoom: 1.3,
  /** The part of a processor and of a disk that a plan uses. The rest is for queries, bursts and the loss of a neighbor. */
  cpuShare: 0.5,
  diskShare: 0.8,
  /** Gigabytes of memory: a process of the service, and the event store for its caches and merges. */
  processMemoryGb: 2,
  storeMemoryGb: 8,
} as const

export type Figures = { readonly [K in keyof typeof figures]: number }
