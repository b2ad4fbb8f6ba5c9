import { hash } from 'node:crypto'
import type { BucketOrigin } from '@dendro/api'
import { DeliveryError } from '../../outgoing/outgoing.ts'
import { openRehydrationSecrets, type RehydrationRow } from '../../resources/data/rehydrations/rehydrations.ts'
import {
  listFiles,
  ObjectChanged,
  OriginError,
  openDirectory,
  openFile,
  openSourceBucket,
  type SourceBucket,
  type SourceFile,
  type SourceObject,
} from '../../resources/data/sources/sources.ts'
import { CHANGED, type SourceContent, unchangedContent } from '../sources/content.ts'
import type { SourceWorld } from '../sources/post.ts'

/** A file or an object that is read back. Its identity changes with its content. */
export type OriginFile = {
  readonly identity: string
  readonly name: string
  readonly bytes: number
  /** Opens its bytes as they are. Reading them throws `ObjectChanged` when it has other content by now. */
  open(): Promise<SourceContent>
}

/** The files of an origin by their identities. They can be opened until it is closed. */
export type OpenOrigin = { readonly files: ReadonlyMap<string, OriginFile>; close(): void }

const FILES_MAX = 10_000
/** How long a bucket may take to be listed: it keeps other rehydrations waiting. */
const LIST_MS = 120_000

export async function openOrigin(world: SourceWorld, row: RehydrationRow, signal: AbortSignal): Promise<OpenOrigin> {
  const { origin } = row
  if (origin.kind === 'DIRECTORY') {
    const place = await openDirectory(world.directories, row.org_id, origin.directory)
    const found = await listFiles(place, { ...origin, start: 'BEGINNING' })
    return { files: byIdentity(found.map((file) => fileOf(place, file))), close: () => undefined }
  }
  const untilMs = world.clock.monotonicMs() + LIST_MS
  const bucket = await openSourceBucket(world.outgoing, origin, await openRehydrationSecrets(world, row), signal)
  try {
    const found: OriginFile[] = []
    for await (const page of bucket.list()) {
      for (const one of page) found.push(objectOf(bucket, origin, one))
      if (world.clock.monotonicMs() > untilMs) {
        throw new DeliveryError(`the bucket was not listed within ${LIST_MS / 1_000} s`, { isRetryable: true })
      }
      if (found.length > FILES_MAX) throw new OriginError(`more than ${FILES_MAX} objects are below the prefix; it must name fewer of them`)
    }
    return { files: byIdentity(found), close: () => bucket.close() }
  } catch (thrown) {
    bucket.close()
    throw thrown
  }
}

const byIdentity = (files: readonly OriginFile[]): Map<string, OriginFile> => new Map(files.map((file) => [file.identity, file]))

function fileOf(place: Awaited<ReturnType<typeof openDirectory>>, file: SourceFile): OriginFile {
  const { path, size, changedMs, name } = file
  return {
    identity: `${path} ${size} ${changedMs}`,
    name,
    bytes: size,
    open: async () => {
      const handle = await openFile(place, file)
      if (!handle) throw new ObjectChanged(CHANGED)
      return unchangedContent(handle, file)
    },
  }
}

function objectOf(bucket: SourceBucket, origin: BucketOrigin, object: SourceObject): OriginFile {
  const { key, tag, size } = object
  const server = origin.endpoint === undefined ? '' : new URL(origin.endpoint).origin
  return {
    // Positions are those in lines, and records make other lines.
    identity: hash('sha256', JSON.stringify(['S3', server, origin.bucket, key, tag, size, origin.format])),
    name: key,
    bytes: size,
    open: async () => ({ read: (position, length) => bucket.readRange(object, position, length), close: async () => undefined }),
  }
}
