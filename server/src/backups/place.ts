import { createReadStream } from 'node:fs'
import { access, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { type Bucket, loadBucket } from '../files/bucket.ts'
import type { FileLocation } from '../files/location.ts'

/**
 * Where backups are kept: a directory or a bucket with one folder per backup. The event store writes its part there by itself; this is the way to
 * everything else. Paths are those of our own files, with slashes.
 */
export type BackupPlace = {
  /** Names the place without its secrets. */
  title: string
  /** The names of all folders, sorted. */
  folders(): Promise<string[]>
  /** The file is complete and durable once it resolves, or absent. */
  put(path: string, bytes: Uint8Array): Promise<void>
  get(path: string): Promise<Uint8Array | undefined>
  /** Reads a file that may be large; undefined where there is none. */
  read(path: string): Promise<Readable | undefined>
  /** Removes a folder with all its files. Files of which a backup knows that it is complete go first, so that a half-removed one is never taken for whole. */
  remove(folder: string, first: readonly string[]): Promise<void>
  close(): Promise<void>
}

export const openBackupPlace = (location: FileLocation): BackupPlace =>
  location.kind === 'directory' ? openDirectory(location.dir) : openBucketPlace(location)

function openDirectory(root: string): BackupPlace {
  return {
    title: root,
    folders: async () => {
      const entries = await readdir(root, { withFileTypes: true }).catch(ifAbsent([]))
      return entries
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort()
    },
    put: async (path, bytes) => {
      const file = join(root, path)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      const handle = await open(`${file}.new`, 'w', 0o600)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(`${file}.new`, file)
      for (let dir = dirname(file); ; dir = dirname(dir)) {
        await syncDirectory(dir)
        if (dir === root || dir === dirname(dir)) break
      }
    },
    get: (path) => readFile(join(root, path)).catch(ifAbsent(undefined)),
    read: async (path) => {
      const isThere = await access(join(root, path)).then(
        () => true,
        () => false,
      )
      return isThere ? createReadStream(join(root, path)) : undefined
    },
    remove: async (folder, first) => {
      for (const path of first) await rm(join(root, folder, path), { force: true })
      await rm(join(root, folder), { recursive: true, force: true, maxRetries: 3 })
    },
    close: async () => undefined,
  }
}

const ifAbsent =
  <T>(otherwise: T) =>
  (cause: NodeJS.ErrnoException): T => {
    if (cause.code !== 'ENOENT') throw cause
    return otherwise
  }

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const DELETES_AT_ONCE = 1_000

function openBucketPlace(location: Extract<FileLocation, { kind: 'bucket' }>): BackupPlace {
  const { prefix } = location
  const title = `s3://${location.bucket}/${prefix}`
  let loaded: Promise<Bucket> | undefined
  async function withBucket<T>(operation: (bucket: Bucket) => Promise<T>): Promise<T> {
    loaded ??= loadBucket(location)
    try {
      return await operation(await loaded)
    } catch (cause) {
      throw new Error(`the bucket of backups ${title} does not work: ${reasonOf(cause)}`, { cause })
    }
  }
  const open = (path: string): Promise<Body | undefined> =>
    withBucket(async ({ sdk, client, Bucket }) => {
      const found = await client.send(new sdk.GetObjectCommand({ Bucket, Key: prefix + path })).catch((cause) => {
        if (cause instanceof Error && cause.name === 'NoSuchKey') return undefined
        throw cause
      })
      return found?.Body as Body | undefined
    })
  return {
    title,
    folders: () =>
      withBucket(async (bucket) => {
        const names: string[] = []
        for await (const { folders } of pagesOf(bucket, prefix, '/')) names.push(...folders)
        return names.map((name) => name.slice(prefix.length, -1)).sort()
      }),
    put: (path, bytes) =>
      withBucket(async ({ sdk, client, Bucket }) => {
        await client.send(new sdk.PutObjectCommand({ Bucket, Key: prefix + path, Body: bytes, ContentLength: bytes.byteLength }))
      }),
    get: async (path) => (await open(path))?.transformToByteArray(),
    read: open,
    remove: (folder, first) =>
      withBucket(async (bucket) => {
        const { sdk, client, Bucket } = bucket
        for (const path of first) await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: `${prefix}${folder}/${path}` }))
        for await (const { keys } of pagesOf(bucket, `${prefix}${folder}/`)) {
          for (let at = 0; at < keys.length; at += DELETES_AT_ONCE) {
            const Objects = keys.slice(at, at + DELETES_AT_ONCE).map((Key) => ({ Key }))
            const { Errors = [] } = await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
            if (Errors[0]) throw new Error(`${Errors[0].Key} was not deleted: ${Errors[0].Message ?? Errors[0].Code}`)
          }
        }
      }),
    close: async () => (await loaded?.catch(() => undefined))?.client.destroy(),
  }
}

type Body = Readable & { transformToByteArray(): Promise<Uint8Array> }

/** Lists the keys with the prefix, and with a delimiter the folders instead of what is in them. */
async function* pagesOf({ sdk, client, Bucket }: Bucket, Prefix: string, Delimiter?: string) {
  let ContinuationToken: string | undefined
  do {
    const page = await client.send(
      new sdk.ListObjectsV2Command({
        Bucket,
        Prefix,
        ...(Delimiter === undefined ? {} : { Delimiter }),
        ...(ContinuationToken === undefined ? {} : { ContinuationToken }),
      }),
    )
    yield {
      keys: (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key])),
      folders: (page.CommonPrefixes ?? []).flatMap((each) => (each.Prefix === undefined ? [] : [each.Prefix])),
    }
    ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (ContinuationToken !== undefined)
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code, $metadata } = cause as { code?: unknown; $metadata?: { httpStatusCode?: number } }
  if ($metadata?.httpStatusCode !== undefined) return `it answered ${$metadata.httpStatusCode} ${cause.name}`
  return typeof code === 'string' ? code : cause.message
}
