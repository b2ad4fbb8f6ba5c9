import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { buildApp } from 'fauxqs'
import { freePort } from '../kernel/free-port.fixture.ts'
import { type BucketLocation, parseFileLocation } from './location.ts'

/** A bucket behind a line that a test cuts: `hang` takes connections and carries nothing, `refuse` takes none. */
export type TestBucket = {
  location: BucketLocation
  /** The value of a setting that names the bucket. */
  url: string
  set(state: 'works' | 'hangs' | 'refuses'): Promise<void>
  /** The keys of all objects. */
  keys(): Promise<string[]>
  close(): Promise<void>
}

/** Starts an S3 store in this process. With DENDRO_TEST_S3 the bucket of that address is used instead. */
export async function startTestBucket(): Promise<TestBucket> {
  const given = process.env.DENDRO_TEST_S3
  const store = given === undefined ? buildApp({ logger: false }) : undefined
  const endpoint = store ? await store.listen({ port: 0, host: '127.0.0.1' }) : new URL(given ?? '').searchParams.get('endpoint')
  if (!endpoint) throw new Error('DENDRO_TEST_S3 must look like s3://key:secret@bucket?endpoint=http://host:port')
  const prefix = `cold-${process.pid}-${Date.now()}`
  const line = await openLine(new URL(endpoint))
  const base = given ?? 's3://key:secret@cold?region=eu-west-1'
  if (store) await fetch(`${endpoint}/cold`, { method: 'PUT' })
  const url = new URL(base)
  url.pathname = `/${prefix}`
  url.searchParams.set('endpoint', `http://127.0.0.1:${line.port}`)
  const address = url.href
  const location = bucketAt(address)
  url.searchParams.set('endpoint', endpoint)
  const direct = bucketAt(url.href)
  return {
    location,
    url: address,
    set: line.set,
    keys: () => keysOf(direct),
    close: async () => {
      await line.close()
      await store?.close()
    },
  }
}

function bucketAt(text: string): BucketLocation {
  const location = parseFileLocation(text)
  if (location.kind !== 'bucket') throw new Error('not a bucket')
  return location
}

async function keysOf(location: BucketLocation): Promise<string[]> {
  const { loadBucket } = await import('./bucket.ts')
  const { sdk, client, Bucket } = await loadBucket(location)
  const found: string[] = []
  let token: string | undefined
  do {
    const page = await client.send(
      new sdk.ListObjectsV2Command({ Bucket, Prefix: location.prefix, ...(token === undefined ? {} : { ContinuationToken: token }) }),
    )
    for (const { Key = '' } of page.Contents ?? []) found.push(Key)
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
  client.destroy()
  return found
}

type Line = { port: number; set: TestBucket['set']; close(): Promise<void> }

async function openLine(target: URL): Promise<Line> {
  const port = await freePort()
  const sockets = new Set<Socket>()
  let hangs = false
  const begin = (inward: Socket): void => {
    sockets.add(inward.on('error', () => undefined).on('close', () => sockets.delete(inward)))
    if (hangs) return
    const outward = connect(Number(target.port), target.hostname)
    sockets.add(outward.on('error', () => inward.destroy()).on('close', () => sockets.delete(outward)))
    inward.pipe(outward).pipe(inward)
  }
  let server: Server | undefined
  const listen = async (): Promise<void> => {
    server = createServer(begin).listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const stop = async (): Promise<void> => {
    const stopped = server
    server = undefined
    stopped?.close()
    for (const socket of sockets) socket.destroy()
    if (stopped?.listening) await once(stopped, 'close')
  }
  await listen()
  return {
    port,
    set: async (state) => {
      hangs = state === 'hangs'
      if (state === 'refuses') return stop()
      if (!server) await listen()
      // A connection of before belongs to the state of before: it is cut when the bucket works again, and goes silent when it hangs.
      if (state === 'works') for (const socket of sockets) socket.destroy()
      else for (const socket of sockets) socket.unpipe().pause()
    },
    close: stop,
  }
}
