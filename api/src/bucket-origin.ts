import { z } from 'zod'
import { text } from './values.ts'

/** Where objects of a bucket are, what they hold, and how to reach them. */
export const bucketOrigin = {
  kind: z.literal('S3'),
  bucket: text(1, 255).regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: 'must be the name of a bucket' }),
  prefix: text(0, 1024).default('').describe('The beginning of the keys. All of them are listed at each look, so name as few as needed.'),
  format: z
    .enum(['LINES', 'RECORDS'])
    .default('LINES')
    .describe(
      'LINES: each line is one event. RECORDS: each object in an array is one, as in `{"Records": [{…}, {…}]}`. Compression with gzip or zstd is recognized, and so is Parquet, of which each row is one event.',
    ),
  endpoint: text(10, 2048).optional().describe('Base URL of an S3-compatible server. Default: the public endpoint of the region.'),
  region: text(1, 64)
    .regex(/^[A-Za-z0-9-]*$/, { error: 'must be the name of a region' })
    .optional(),
  access_key_id: text(1, 255),
}

const Bucket = z.object(bucketOrigin)
export type BucketOrigin = z.output<typeof Bucket> & { readonly secret_access_key: string }
