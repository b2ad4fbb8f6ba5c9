import type { Clock } from '../kernel/clock.ts'
import { keptReading } from '../kernel/kept-reading.ts'
import { type Bucket, loadBucket } from './bucket.ts'
import type { BucketLocation } from './location.ts'

/** Why a bucket cannot be used; undefined while it answers. */
export type BucketProbe = { reason(): Promise<string | undefined>; close(): Promise<void> }

const KEPT_MS = 5_000
const BOUND_MS = 3_000

/** Asks on demand, at most once in five seconds. */
export function openBucketProbe(location: BucketLocation, clock: Pick<Clock, 'monotonicMs'>): BucketProbe {
  let loaded: Promise<Bucket> | undefined
  const ask = async (): Promise<string | undefined> => {
    loaded ??= loadBucket(location)
    const { sdk, client, Bucket } = await loaded
    const abortSignal = AbortSignal.timeout(BOUND_MS)
    return client.send(new sdk.HeadBucketCommand({ Bucket }), { abortSignal }).then(
      () => undefined,
      (cause: unknown) => (abortSignal.aborted ? 'no answer within 3 s' : reasonOf(cause)),
    )
  }
  return {
    reason: keptReading(KEPT_MS, clock, ask),
    close: async () => (await loaded?.catch(() => undefined))?.client.destroy(),
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code, $metadata } = cause as { code?: unknown; $metadata?: { httpStatusCode?: number } }
  if ($metadata?.httpStatusCode !== undefined) return `it answered ${$metadata.httpStatusCode}`
  return typeof code === 'string' ? code : cause.name
}
