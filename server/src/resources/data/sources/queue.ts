import { Readable } from 'node:stream'
import type { S3Origin } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import { DeliveryError, type Outgoing } from '../../../outgoing/outgoing.ts'
import { objectStoreOptions, type SignedRequest, signedTrouble, urlOfSigned } from '../../../outgoing/signed-request.ts'
import type { OriginSecrets } from './secrets.ts'

/** A message of a queue. `tries` counts how often it was received; undefined where the queue does not count. */
export type QueueMessage = { readonly id: string; readonly receipt: string; readonly body: string; readonly tries: number | undefined }

export type SourceQueue = {
  /** The next messages, which nobody else receives for a while. Waits up to `waitS` for one. */
  receive(waitS: number): Promise<readonly QueueMessage[]>
  /** Keeps messages from others for a while more. */
  keep(receipts: readonly string[]): Promise<void>
  remove(receipts: readonly string[]): Promise<void>
  /** Whether it can be reached. */
  check(): Promise<void>
  close(): void
}

type QueueOrigin = Pick<S3Origin, 'region' | 'access_key_id'>

const DEFAULT_REGION = 'us-east-1'
/** How many messages one request receives or changes. */
const AT_ONCE = 10
/** For how long nobody else receives a message. */
const HIDDEN_S = 30
/** Messages have up to 1 MiB, and each of their bytes may be escaped. */
const REPLY_BYTES_MAX = 24 * 2 ** 20

export function checkQueue(outgoing: Outgoing, { queue_url: url }: S3Origin): void {
  if (url === undefined) return
  outgoing.check(url, 'origin.queue_url')
  const { pathname, search, hash } = new URL(url)
  if (pathname === '/' || search !== '' || hash !== '') throw badField('origin.queue_url', 'must be the URL of a queue, with its path')
}

/** Opens a queue. Its requests go the way of all requests to addresses that callers choose. */
export async function openSourceQueue(
  outgoing: Outgoing,
  url: string,
  { region, access_key_id: accessKeyId }: QueueOrigin,
  { secret_access_key: secretAccessKey = '' }: OriginSecrets,
  signal?: AbortSignal,
): Promise<SourceQueue> {
  const sdk = await import('@aws-sdk/client-sqs')
  const client = new sdk.SQSClient({
    region: regionOf(url) ?? region ?? DEFAULT_REGION,
    credentials: { accessKeyId, secretAccessKey },
    endpoint: new URL(url).origin,
    ...objectStoreOptions((request) => sendSigned(outgoing, request, signal)),
  })
  const failed = (cause: unknown): never => {
    throw signedTrouble('the queue', cause, 'could not be read')
  }
  return {
    receive: async (waitS) => {
      const command = new sdk.ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: AT_ONCE,
        VisibilityTimeout: HIDDEN_S,
        WaitTimeSeconds: waitS,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      })
      const { Messages = [] } = await client.send(command).catch(failed)
      return Messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }) => ({
        id: MessageId,
        receipt: ReceiptHandle,
        body: Body,
        tries: Number(Attributes?.ApproximateReceiveCount) || undefined,
      }))
    },
    keep: async (receipts) => {
      for (const some of inTens(receipts)) {
        const Entries = some.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle, VisibilityTimeout: HIDDEN_S }))
        await client.send(new sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries })).catch(failed)
      }
    },
    remove: async (receipts) => {
      for (const some of inTens(receipts)) {
        const Entries = some.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }))
        await client.send(new sdk.DeleteMessageBatchCommand({ QueueUrl: url, Entries })).catch(failed)
      }
    },
    check: async () => void (await client.send(new sdk.GetQueueAttributesCommand({ QueueUrl: url })).catch(failed)),
    close: () => client.destroy(),
  }
}

/** Looks whether a queue can be reached. */
export async function testQueue(outgoing: Outgoing, { queue_url: url, ...origin }: S3Origin, secrets: OriginSecrets): Promise<void> {
  if (url === undefined) return
  const queue = await openSourceQueue(outgoing, url, origin, secrets)
  try {
    await queue.check()
  } finally {
    queue.close()
  }
}

/** The region in the address of a queue, which need not be that of the bucket. */
const regionOf = (url: string): string | undefined => /^sqs\.([a-z]{2}[a-z0-9-]*-\d)\./.exec(new URL(url).hostname)?.[1]

const inTens = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, index) => items.slice(index * AT_ONCE, (index + 1) * AT_ONCE))

async function sendSigned(outgoing: Outgoing, request: SignedRequest, signal?: AbortSignal) {
  const { headers, body } = request
  const given = typeof body === 'string' || body instanceof Uint8Array ? body : ''
  const answer = await outgoing.open({ method: 'POST', url: urlOfSigned(request), headers, body: given }, signal)
  return {
    response: { statusCode: answer.status, headers: answer.headers, body: Readable.from(limited(answer.body), { objectMode: false }) },
  }
}

async function* limited(body: Readable): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > REPLY_BYTES_MAX) throw new DeliveryError('the queue answered with too many bytes', { isRetryable: true })
    yield part
  }
}
