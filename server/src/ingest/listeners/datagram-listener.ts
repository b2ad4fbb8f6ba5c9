import { createSocket, type RemoteInfo } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Logger } from '../../kernel/log.ts'
import { plainAddress } from '../../kernel/networks.ts'
import type { MessageSource } from '../receivers/messages.ts'
import type { ListenerCounters } from './counters.ts'
import { readKernelDrops } from './kernel-drops.ts'
import { senderCheck } from './senders-allowed.ts'
import type { ListenerSetting } from './setting.ts'
import { listenFailure, type OpenListener } from './stream-listener.ts'

export type DatagramListenerOptions = {
  setting: ListenerSetting
  counters: ListenerCounters
  log: Logger
  /** Takes a datagram; `reply` answers its sender. */
  take(datagram: Uint8Array, source: MessageSource, reply: (bytes: Uint8Array) => void): void
  /** Resolves when everything taken is stored. */
  settled(): Promise<void>
}

/** Bursts wait here while the service is busy; the system may allow less (net.core.rmem_max). */
const RECEIVE_BYTES = 8 * 2 ** 20
const DROPS_EVERY_MS = 5_000
/** The senders whose description is kept; a flood of invented addresses must not cost memory. */
const SOURCES_MAX = 4_096

export async function openDatagramListener({ setting, counters, log, take, settled }: DatagramListenerOptions): Promise<OpenListener> {
  const isAllowed = senderCheck(setting.networks)
  const sources = new Map<string, MessageSource>()
  const sourceOf = (address: string): MessageSource => {
    const known = sources.get(address)
    if (known) return known
    if (sources.size >= SOURCES_MAX) sources.clear()
    const source: MessageSource = { address, attributes: [], ...(setting.zone !== undefined && { zone: setting.zone }) }
    sources.set(address, source)
    return source
  }
  const socket = createSocket({ type: isIPv6(setting.host) ? 'udp6' : 'udp4', recvBufferSize: RECEIVE_BYTES })
  await new Promise<void>((done, failed) => {
    socket.once('error', (cause) => failed(listenFailure(setting, cause)))
    socket.bind({ address: setting.host, port: setting.port, exclusive: true }, done)
  })
  socket.on('error', (cause) => log.warn({ err: cause, listener: setting.name }, 'a socket for datagrams failed'))
  socket.on('message', (datagram: Buffer, { address, port }: RemoteInfo) => {
    const from = plainAddress(address)
    const reply = (bytes: Uint8Array): void =>
      socket.send(bytes, port, address, (cause) => cause && log.debug({ err: cause, listener: setting.name }, 'a datagram has no answer'))
    if (isAllowed(from)) take(datagram, sourceOf(from), reply)
    else counters.drop('refused')
  })
  const { port } = socket.address()
  const readDrops = async (): Promise<void> => {
    const drops = await readKernelDrops(port, log)
    if (drops !== undefined) counters.dropped.set('kernel', drops)
  }
  const watch = setInterval(() => void readDrops(), DROPS_EVERY_MS).unref()
  return {
    port,
    close: async () => {
      clearInterval(watch)
      await readDrops()
      await new Promise<void>((done) => socket.close(done))
      await settled()
    },
  }
}
