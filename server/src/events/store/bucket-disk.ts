import type { BucketLocation } from '../../files/location.ts'

/** How long one request to the bucket may wait, and how often it is tried. */
export type BucketPatience = { connectMs: number; requestMs: number; tries: number }

/** The settings of a disk of the event store in a bucket. The engine must start while the bucket is away, so it is not asked at the start. */
export const bucketDisk = (
  place: BucketLocation,
  metadataType: 'plain' | 'local',
  patience: BucketPatience,
): Record<string, string | number> => ({
  type: 'object_storage',
  object_storage_type: 's3',
  metadata_type: metadataType,
  endpoint: bucketUrl(place),
  region: place.region,
  skip_access_check: 1,
  s3_retry_attempts: patience.tries,
  s3_max_single_read_retries: patience.tries,
  connect_timeout_ms: patience.connectMs,
  request_timeout_ms: patience.requestMs,
  ...(place.credentials
    ? { access_key_id: place.credentials.id, secret_access_key: place.credentials.secret.reveal() }
    : { use_environment_credentials: 1 }),
})

function bucketUrl({ bucket, prefix, endpoint, region, hostStyle }: BucketLocation): string {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  if (hostStyle) url.hostname = `${bucket}.${url.hostname}`
  else url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${prefix}`
  return url.href
}
