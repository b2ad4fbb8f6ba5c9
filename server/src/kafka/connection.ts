import type { Connection, SASLOptions } from '@platformatic/kafka'
import { DeliveryError, type Outgoing } from '../outgoing/outgoing.ts'

type KafkaLibrary = typeof import('@platformatic/kafka')

export type KafkaMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'

/** How to reach the brokers of a cluster. */
export type KafkaSettings = {
  /** Each as host:port. */
  readonly brokers: readonly string[]
  readonly tls: boolean
  /** The certificate of an authority, in PEM, instead of the usual ones. */
  readonly ca?: string | undefined
  readonly login?: { readonly mechanism: KafkaMechanism; readonly username: string; readonly password: string } | undefined
}

const CONNECT_MS = 5_000
const REQUEST_MS = 15_000
const RETRIES = 2
const MESSAGE_CHARACTERS_MAX = 300

/** Marks connections whose peers must be checked. */
class CheckedPeers {
  readonly outgoing: Outgoing
  constructor(outgoing: Outgoing) {
    this.outgoing = outgoing
  }
}

let loaded: Promise<KafkaLibrary> | undefined

/** The library, loaded when it is first needed: few deployments need it. */
export const loadKafka = (): Promise<KafkaLibrary> => {
  loaded ??= import('@platformatic/kafka').then((library) => {
    checkPeersOf(library)
    return library
  })
  return loaded
}

/** The options that consumers and producers share. Checks the hosts of the brokers that are given; others are checked when they are connected to. */
export async function kafkaOptions(outgoing: Outgoing, { brokers, tls, ca, login }: KafkaSettings) {
  for (const broker of brokers) await outgoing.checkHost(peerOf(broker).host)
  const sasl: SASLOptions | undefined = login && { mechanism: login.mechanism, username: login.username, password: login.password }
  return {
    clientId: 'dendro',
    bootstrapBrokers: [...brokers],
    connectTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    retries: RETRIES,
    context: new CheckedPeers(outgoing),
    ...(tls ? { tls: ca === undefined ? {} : { ca }, tlsServerName: true } : {}),
    ...(sasl ? { sasl } : {}),
  }
}

/** Connects, and looks for a topic if one is given. Throws a DeliveryError. */
export async function checkTopic(outgoing: Outgoing, settings: KafkaSettings, topic: string | undefined): Promise<void> {
  const { Admin } = await loadKafka()
  const admin = new Admin(await kafkaOptions(outgoing, settings))
  try {
    const { topics } = await admin.metadata({ topics: topic === undefined ? [] : [topic] })
    if (topic !== undefined && (topics.get(topic)?.partitions.length ?? 0) === 0) throw noSuchTopic(topic)
  } catch (thrown) {
    throw kafkaTrouble(thrown)
  } finally {
    await admin.close().catch(() => undefined)
  }
}

const noSuchTopic = (topic: string, cause?: unknown): DeliveryError =>
  new DeliveryError(`the cluster has no topic ${topic}`, { isRetryable: true, cause })

/** The host and the port of a broker. */
export function peerOf(broker: string): { readonly host: string; readonly port: number } {
  const colon = broker.lastIndexOf(':')
  return { host: broker.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(broker.slice(colon + 1)) }
}

/** The library asks nobody before it connects to an address that a broker has named, so that its own notice of each attempt serves as the check. */
function checkPeersOf({ connectionsConnectsChannel }: KafkaLibrary): void {
  connectionsConnectsChannel.start.subscribe((message) => {
    const { connection, host, port } = message as { connection: Connection; host: string; port: number }
    const { context } = connection
    if (!(context instanceof CheckedPeers)) return
    const { outgoing } = context
    // The socket is made right after this notice. It is closed before it can be used, or when the address of its peer is known.
    connection.once('connecting', () =>
      queueMicrotask(() => {
        const { socket } = connection
        const refused = outgoing.refusalOf({ host, address: undefined, port })
        if (refused) return void socket.destroy(refused)
        socket.prependOnceListener('connect', () => {
          const late = outgoing.refusalOf({ host, address: socket.remoteAddress, port })
          if (late) socket.destroy(late)
        })
      }),
    )
  })
}

/** What to show of an error of the library, which may name addresses of a network that the caller cannot see. */
export function kafkaTrouble(thrown: unknown): DeliveryError {
  const all = [...errorsIn(thrown)]
  const known = all.find((one) => one instanceof DeliveryError)
  if (known) return known
  for (const { code, message } of all) {
    const topic = code === 'PLT_KFK_USER' ? /^Unknown topic (.+)\.$/.exec(message)?.[1] : undefined
    if (topic !== undefined) return noSuchTopic(topic, thrown)
  }
  const said = all.flatMap((one) => ('apiId' in one && typeof one.apiId === 'string' ? [one.apiId] : []))
  const isLogin = all.some(({ code }) => code === 'PLT_KFK_AUTHENTICATION')
  const text =
    said.length > 0
      ? `the broker answered ${[...new Set(said)].join(', ')}`
      : isLogin
        ? 'the broker refused the login'
        : 'the brokers could not be reached'
  return new DeliveryError(text.slice(0, MESSAGE_CHARACTERS_MAX), { isRetryable: true, cause: thrown })
}

function* errorsIn(thrown: unknown, depth = 0): Generator<Error & { code?: unknown; apiId?: unknown }> {
  if (!(thrown instanceof Error) || depth > 5) return
  yield thrown
  yield* errorsIn(thrown.cause, depth + 1)
  if (thrown instanceof AggregateError) for (const one of thrown.errors) yield* errorsIn(one, depth + 1)
}
