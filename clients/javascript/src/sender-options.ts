/** Why events were not delivered. */
export type LossReason =
  /** The queue was full. */
  | 'queue_full'
  /** The event exceeds `eventBytesMax`. */
  | 'too_large'
  /** The service rejected the event. */
  | 'rejected'
  /** The sender was closed before the event was delivered. */
  | 'closed'

export type DropReport = { readonly count: number; readonly reasons: Readonly<Partial<Record<LossReason, number>>>; readonly total: number }

export type SenderOptions = {
  /** The address of the service; the variable DENDRO_URL when absent. */
  url?: string
  /** An API key with the role IngestionApi; the variable DENDRO_API_KEY when absent. */
  key?: string
  collection?: string
  dataset?: string
  /** Bounds of the queue, which include the batch in flight. */
  queueEventsMax?: number
  queueBytesMax?: number
  /** The longest event in bytes; the service stores up to 1 MiB. */
  eventBytesMax?: number
  batchEventsMax?: number
  batchBytesMax?: number
  /** How long an event waits for others. */
  lingerMs?: number
  requestTimeoutMs?: number
  /** How long `close` and the end of the process wait for delivery. */
  closeTimeoutMs?: number
  compression?: 'gzip' | 'none'
  /** Called with the events that were dropped since the last call, at most once for each attempt to send. */
  onDrop?: (report: DropReport) => void
  /** Called when delivery fails for the first time since it last succeeded, and when the service rejects events. */
  onError?: (error: Error) => void
}

export type ResolvedSenderOptions = Required<Omit<SenderOptions, 'collection' | 'dataset'>> & { readonly target: string }

const MIB = 2 ** 20
const DEFAULTS = {
  queueEventsMax: 100_000,
  queueBytesMax: 64 * MIB,
  eventBytesMax: MIB,
  batchEventsMax: 1_000,
  batchBytesMax: 2 * MIB,
  lingerMs: 1_000,
  requestTimeoutMs: 30_000,
  // The logger of a worker thread waits 10 s for its end.
  closeTimeoutMs: 8_000,
}

/** Fills in defaults. Missing and invalid options throw, once, when the logger is created. */
export function resolveOptions(options: SenderOptions, env: NodeJS.ProcessEnv = process.env): ResolvedSenderOptions {
  const url = options.url ?? env.DENDRO_URL
  const key = options.key ?? env.DENDRO_API_KEY
  if (!url) throw new TypeError('dendro: set the option url, or the variable DENDRO_URL')
  if (!key) throw new TypeError('dendro: set the option key, or the variable DENDRO_API_KEY')
  if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`dendro: the option url must begin with http: or https:, not ${url}`)
  if (/[^\x21-\x7e]/.test(key)) throw new TypeError('dendro: the option key has characters that no API key has')
  const resolved = {
    ...DEFAULTS,
    compression: 'gzip' as const,
    onDrop: ({ count, reasons }: DropReport) => warn(`${count} events were dropped: ${JSON.stringify(reasons)}`),
    onError: ({ message }: Error) => warn(message),
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    url,
    key,
    target: targetOf(url, options),
  }
  for (const name of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]) {
    const value: unknown = resolved[name]
    if (typeof value !== 'number' || !(value >= 0) || (name.endsWith('Max') && value < 1))
      throw new TypeError(`dendro: the option ${name} must be a positive number, not ${String(value)}`)
  }
  if (!['gzip', 'none'].includes(resolved.compression)) throw new TypeError('dendro: the option compression must be gzip or none')
  return resolved
}

function targetOf(url: string, { collection = 'default', dataset = 'default' }: SenderOptions): string {
  return `${url.replace(/\/+$/, '')}/ingest/${encodeURIComponent(collection)}/${encodeURIComponent(dataset)}`
}

const warn = (message: string): void => process.emitWarning(`dendro: ${message}`)
