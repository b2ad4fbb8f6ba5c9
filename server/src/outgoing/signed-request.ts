import { DeliveryError } from './outgoing.ts'

/** A request to an object store after the SDK has signed it. */
export type SignedRequest = {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export function urlOfSigned({ protocol, hostname, port, path, query = {} }: SignedRequest): string {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value === null ? '' : String(value))
  return url.href
}

/** Settings of the SDK for the servers that callers choose. `send` sends a signed request as all requests to such addresses are sent. */
export const objectStoreOptions = (send: (request: SignedRequest) => Promise<{ response: object }>) => ({
  maxAttempts: 1,
  // Not every server knows the newer checksums.
  requestChecksumCalculation: 'WHEN_REQUIRED' as const,
  responseChecksumValidation: 'WHEN_REQUIRED' as const,
  requestHandler: { handle: send } as never,
})

type FailedUse = 'could not be used' | 'could not be read'

/** What to show of an error of the SDK; `failed` says what could not be done. */
export const bucketTrouble = (cause: unknown, failed: FailedUse): DeliveryError => signedTrouble('the bucket', cause, failed)

export function signedTrouble(target: 'the bucket' | 'the queue', cause: unknown, failed: FailedUse): DeliveryError {
  if (cause instanceof DeliveryError) return cause
  const { name = 'Error', $metadata } = cause as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  const answer = status === undefined ? `${failed} (${name})` : `answered with status ${status} (${name})`
  return new DeliveryError(`${target} ${answer}`, { isRetryable: true, cause })
}
