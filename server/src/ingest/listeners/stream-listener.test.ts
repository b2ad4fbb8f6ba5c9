import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Certificate } from '../../kernel/certificate.ts'
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../../kernel/certificates.fixture.ts'
import { openLogger } from '../../kernel/log.ts'
import { ListenerCounters } from './counters.ts'
import { MessageFraming } from './framing.ts'
import { secureOptions } from './secure-options.ts'
import { asListeners } from './setting.ts'
import { type ConnectionBounds, type OpenListener, openStreamListener, type Peer, type StreamConnection } from './stream-listener.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dendro-tls-'))
  for (const [name, text] of [
    ['ca.pem', AUTHORITY],
    ['a.pem', CERTIFICATE],
    ['a.key', PRIVATE_KEY],
  ] as const) {
    writeFileSync(join(dir, name), text)
  }
})
afterAll(() => rmSync(dir, { recursive: true }))

type Opened = { listener: OpenListener; counters: ListenerCounters; messages: string[]; peers: Peer[] }
const opened: OpenListener[] = []
afterAll(() => Promise.all(opened.map((listener) => listener.close())))

/** Opens a listener that keeps its messages. */
async function open(address: string, bounds: Partial<ConnectionBounds>, begins?: 'handshake'): Promise<Opened> {
  const [setting] = asListeners(address)
  if (!setting) throw new Error('the test has no listener')
  const counters = new ListenerCounters(setting.name)
  const messages: string[] = []
  const peers: Peer[] = []
  const connection = (peer: Peer): StreamConnection => {
    const framing = new MessageFraming({ delimiter: 0x0a, isCounted: true, messageBytesMax: 2 ** 20 })
    const take = (message: Uint8Array) => void messages.push(Buffer.from(message).toString())
    peers.push(peer)
    return {
      hasAnswers: false,
      data: (chunk) => framing.push(chunk, take),
      end: () => void framing.end(take),
      held: () => framing.held ?? (begins === 'handshake' ? { number: 0, bytes: 0 } : undefined),
      settled: async () => undefined,
    }
  }
  const files = { cert: { setting: 'cert', path: join(dir, 'a.pem') }, key: { setting: 'key', path: join(dir, 'a.key') } }
  const tls = secureOptions(setting, new Certificate(files))
  const listener = await openStreamListener({ setting, tls, counters, log: openLogger('silent'), connect: connection, bounds })
  opened.push(listener)
  return { listener, counters, messages, peers }
}

async function dial(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const ended = (socket: Socket): Promise<void> => new Promise((done) => socket.once('close', () => done()))

test('a sender whose message never ends is disconnected, one that waits between messages is not', async () => {
  const { listener, counters, messages } = await open('syslog+tcp://127.0.0.1:0', { messageMs: 1, checkEveryMs: 10 })
  const [slow, idle] = [await dial(listener.port), await dial(listener.port)]
  idle.write('<13>whole\n')
  await expect.poll(() => messages).toEqual(['<13>whole'])
  slow.write('<13>hal')
  await ended(slow)
  expect([...counters.closed]).toEqual([['too_slow', 1]])
  idle.write('<13>again\n')
  await expect.poll(() => messages).toEqual(['<13>whole', '<13>again'])
})

test('a sender that never begins the handshake that its protocol needs is disconnected', async () => {
  const { listener, counters } = await open('syslog+tcp://127.0.0.1:0', { messageMs: 1, checkEveryMs: 10 }, 'handshake')
  await ended(await dial(listener.port))
  expect([...counters.closed]).toEqual([['too_slow', 1]])
})

test('incomplete messages that hold too much memory together end, the largest first', async () => {
  const { listener, counters, messages } = await open('syslog+tcp://127.0.0.1:0', { heldBytesMax: 200_000, checkEveryMs: 10 })
  const [large, small] = [await dial(listener.port), await dial(listener.port)]
  small.write('<13>sma')
  large.write(Buffer.alloc(300_000, 'x'))
  await ended(large)
  expect([...counters.closed]).toEqual([['memory', 1]])
  small.write('ll\n')
  await expect.poll(() => messages).toContain('<13>small')
})

test('connections beyond the limit are refused', async () => {
  const { listener, counters, messages } = await open('syslog+tcp://127.0.0.1:0', { connectionsMax: 1 })
  const first = await dial(listener.port)
  first.write('<13>first\n')
  await expect.poll(() => messages).toEqual(['<13>first'])
  await ended(await dial(listener.port))
  expect([...counters.closed]).toEqual([['too_many', 1]])
})

test('a sender with many unused connections gives way to another sender, not to itself', async () => {
  const { listener, counters, messages } = await open('syslog+tcp://127.0.0.1:0', { connectionsMax: 3, spareMs: 0 })
  const many: Socket[] = []
  for (let n = 0; n < 3; n += 1) {
    const socket = await dial(listener.port)
    socket.write(`<13>${n}\n`)
    await expect.poll(() => messages).toHaveLength(n + 1)
    many.push(socket)
  }
  const first = ended(many[0] as Socket)
  const other = await dial(listener.port, '127.0.0.2')
  other.write('<13>other\n')
  await expect.poll(() => messages).toContain('<13>other')
  await first
  await ended(await dial(listener.port))
  many[1]?.write('<13>still open\n')
  await expect.poll(() => messages).toContain('<13>still open')
  expect([...counters.closed]).toEqual([['too_many', 2]])
})

const tlsAddress = (): string => `syslog+tls://127.0.0.1:0?client_ca=${encodeURIComponent(join(dir, 'ca.pem'))}`

test('half of a TLS handshake ends', async () => {
  const { listener, counters } = await open(tlsAddress(), { handshakeMs: 50 })
  await ended(await dial(listener.port))
  expect([...counters.closed]).toEqual([['handshake', 1]])
})

test('a certificate names its sender, and without one there is no connection', async () => {
  const { listener, counters, messages, peers } = await open(tlsAddress(), {})
  const trusted = connectTls({
    host: '127.0.0.1',
    port: listener.port,
    ca: AUTHORITY,
    cert: CERTIFICATE,
    key: PRIVATE_KEY,
    checkServerIdentity: () => undefined,
  })
  trusted.write('<13>signed\n')
  await expect.poll(() => messages).toEqual(['<13>signed'])
  expect(peers.map(({ source }) => source.attributes)).toEqual([[['$tls.client', 'sender-a']]])
  const unknown = connectTls({ host: '127.0.0.1', port: listener.port, ca: AUTHORITY, checkServerIdentity: () => undefined })
  unknown.on('error', () => undefined)
  unknown.write('<13>unsigned\n')
  await ended(unknown)
  expect(counters.closed.get('handshake')).toBe(1)
  expect(messages).toEqual(['<13>signed'])
  trusted.destroy()
})

test('a stop reads what senders had on their way', async () => {
  const { listener, messages } = await open('syslog+tcp://127.0.0.1:0', { closeMs: 60_000 })
  const socket = await dial(listener.port)
  socket.write('<13>before\n')
  await expect.poll(() => messages).toEqual(['<13>before'])
  socket.write('<13>on its way\n')
  socket.on('end', () => socket.end('<13>last'))
  await listener.close()
  expect(messages).toEqual(['<13>before', '<13>on its way', '<13>last'])
})
