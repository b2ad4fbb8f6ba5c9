import type { S3Origin } from '@dendro/api'
import { filled } from './filled.ts'

/** Where a bucket is and how to reach it, while it is edited. */
export type BucketDraft = {
  readonly bucket: string
  readonly prefix: string
  readonly endpoint: string
  readonly region: string
  readonly access_key_id: string
  readonly secret_access_key: string
}

export const newBucket: BucketDraft = { bucket: '', prefix: '', endpoint: '', region: '', access_key_id: '', secret_access_key: '' }

type BucketAccess = Pick<S3Origin, 'bucket'> & {
  readonly [Name in Exclude<keyof BucketDraft, 'bucket'>]?: string | undefined
}

export const bucketDraftOf = (given: BucketAccess): BucketDraft => ({
  bucket: given.bucket,
  prefix: given.prefix ?? '',
  endpoint: given.endpoint ?? '',
  region: given.region ?? '',
  access_key_id: given.access_key_id ?? '',
  secret_access_key: given.secret_access_key ?? '',
})

export const bucketBody = ({ bucket, prefix, endpoint, region, access_key_id, secret_access_key }: BucketDraft) => ({
  bucket: bucket.trim(),
  ...filled({ prefix, endpoint, region, access_key_id }),
  ...(secret_access_key === '' ? {} : { secret_access_key }),
})
