import type { SecureContextOptions } from 'node:tls'
import type { Certificate, CertificatePair } from '../../kernel/certificate.ts'
import type { World } from '../../world.ts'
import type { MessageParser } from '../batch.ts'
import { LINE_BYTES_MAX } from '../intake/arrivals.ts'
import type { Intake } from '../intake/intake.ts'
import { forward } from '../receivers/forward/forward.ts'
import { gelf } from '../receivers/gelf/gelf.ts'
import { syslog } from '../receivers/syslog/syslog.ts'
import { type IdentifySender, openAccess } from './access.ts'
import { ListenerCounters } from './counters.ts'
import { openDatagramListener } from './datagram-listener.ts'
import { answerHeartbeat } from './forward-heartbeats.ts'
import { connectForward } from './forward-listener.ts'
import { connectGelf, gelfDatagrams } from './gelf-listener.ts'
import { type GrpcListenerOptions, openGrpcListener } from './grpc-listener.ts'
import { PartQueue } from './part-queue.ts'
import { PendingMessages } from './pending.ts'
import { MessageQueues } from './queues.ts'
import { secureOptions } from './secure-options.ts'
import type { ListenerProtocol, ListenerSetting } from './setting.ts'
import { type OpenListener, openStreamListener, type Peer, type StreamConnection } from './stream-listener.ts'
import { connectRelp, connectSyslog, type ListenerParts, syslogDatagrams } from './syslog-listener.ts'

/** The sockets of other protocols than HTTP. */
export type Listeners = {
  /** Opens listeners; on a failure none of them stays open. Those with TLS take over each new pair of the certificate. */
  open(settings: readonly ListenerSetting[], certificate: Certificate | undefined): Promise<readonly BoundListener[]>
  counters(): readonly ListenerCounters[]
  /** Stops accepting, stores what was received, answers it, and closes. */
  close(): Promise<void>
}
export type BoundListener = { name: string; port: number }

type ListenerWorld = Pick<World, 'ids' | 'log'> &
  Pick<GrpcListenerOptions, 'count' | 'extraPrefixes' | 'extraKeyHeaders'> & {
    intake: Pick<Intake, 'reserve' | 'storeMessages' | 'noteRefused'>
    identify: IdentifySender
    /** The memory of all listeners for messages that wait to be stored. */
    bytesMax: number
  }

/** What cannot be stored within this time after a stop is given up. */
const STOP_MS = 5_000
const QUEUE_BYTES_MIN = 2 ** 20

const parserOf = { syslog, relp: syslog, gelf, forward } satisfies Partial<Record<ListenerProtocol, MessageParser>>
type MessageProtocol = keyof typeof parserOf
const connectOf: Readonly<Record<MessageProtocol, (parts: ListenerParts, peer: Peer) => StreamConnection>> = {
  syslog: connectSyslog,
  relp: connectRelp,
  gelf: connectGelf,
  forward: connectForward,
}

export function openListeners(world: ListenerWorld): Listeners {
  const access = openAccess(world.identify, world)
  const open: { listener: OpenListener; counters: ListenerCounters; tls: SecureContextOptions | undefined }[] = []
  const renew = (pair: CertificatePair): void => {
    for (const { listener, tls } of open) if (tls) listener.renew?.({ ...tls, ...pair })
  }
  const closeAll = async (): Promise<void> => {
    await Promise.all(open.splice(0).map(({ listener }) => listener.close()))
  }

  async function openOne(setting: ListenerSetting, tls: SecureContextOptions | undefined, bytesMax: number): Promise<BoundListener> {
    const counters = new ListenerCounters(setting.name)
    const listener =
      setting.protocol === 'otlp-grpc'
        ? await openGrpcListener({ ...world, access, setting, tls, counters })
        : await openSocket(partsOf(setting, setting.protocol, counters, bytesMax), setting.protocol, tls)
    open.push({ listener, counters, tls })
    world.log.info({ listener: setting.name, port: listener.port }, 'listens for events')
    return { name: setting.name, port: listener.port }
  }

  function partsOf(setting: ListenerSetting, protocol: MessageProtocol, counters: ListenerCounters, bytesMax: number): ListenerParts {
    const routing = { collection: setting.collection, dataset: setting.dataset, tags: {} }
    const queues = new MessageQueues(
      { ...world, access },
      { parser: parserOf[protocol], routing, bytesMax, counters, hasOneKey: setting.key !== undefined && !setting.drains },
    )
    return { setting, queues, counters, lineParts: new PartQueue(LINE_BYTES_MAX) }
  }

  async function openSocket(parts: ListenerParts, protocol: MessageProtocol, tls: SecureContextOptions | undefined): Promise<OpenListener> {
    const { setting, queues, counters } = parts
    const { log } = world
    if (setting.transport === 'udp') {
      const pending = new PendingMessages()
      const messages =
        protocol === 'gelf' ? gelfDatagrams(parts, pending) : { take: syslogDatagrams(parts, pending), close: () => undefined }
      const handler = protocol === 'forward' ? { take: answerHeartbeat, close: () => undefined } : messages
      const settled = async (): Promise<void> => {
        handler.close()
        await queues.close(STOP_MS)
      }
      return openDatagramListener({ setting, counters, log, take: handler.take, settled })
    }
    const connect = connectOf[protocol]
    const listener = await openStreamListener({ setting, tls, counters, log, connect: (peer) => connect(parts, peer) })
    return {
      ...listener,
      close: async () => {
        const closed = listener.close()
        const late = setTimeout(() => void queues.close(0), STOP_MS)
        await closed
        clearTimeout(late)
        await queues.close(STOP_MS)
      },
    }
  }

  return {
    open: async (settings, certificate) => {
      // Files are read first, so that a wrong one leaves nothing open.
      const contexts = settings.map((setting) => secureOptions(setting, certificate))
      const bytesMax = Math.max(QUEUE_BYTES_MIN, Math.floor(world.bytesMax / Math.max(1, settings.length)))
      const bound: BoundListener[] = []
      try {
        for (const [index, setting] of settings.entries()) bound.push(await openOne(setting, contexts[index], bytesMax))
      } catch (thrown) {
        await closeAll()
        throw thrown
      }
      certificate?.onChange(renew)
      return bound
    },
    counters: () => open.map(({ counters }) => counters),
    close: closeAll,
  }
}
