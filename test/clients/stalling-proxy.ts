import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

type Pair = { client: Socket; server: Socket; isStalled: boolean; isGone: boolean }

/**
 * A TCP proxy between senders and a service that moves: senders keep one address while the service is killed and started elsewhere. It can hold back
 * answers (the service stores, the sender does not know), or stall altogether.
 */
export type StallingProxy = {
  readonly port: number
  /** Names the port of the service, and lets everything through. With a next mode, that begins after some chunks of answers, with 0 at once. */
  passTo(port: number, next?: { mode: 'hold answers' | 'stall'; afterAnswers: number }): void
  /** Nothing passes. */
  stall(): void
  /** Answers that were held back, also of connections that their sender gave up since. */
  held(): number
  /** Chunks that did not pass since the stall began. */
  stalled(): number
  /** Connections that senders gave up since the stall began. */
  givenUp(): number
  close(): Promise<void>
}

export async function openStallingProxy(): Promise<StallingProxy> {
  const pairs = new Set<Pair>()
  let target = 0
  let mode: 'pass' | 'hold answers' | 'stall' = 'pass'
  let next: Parameters<StallingProxy['passTo']>[1]
  let answers = 0
  let givenUp = 0
  let held = 0
  let stalled = 0

  const drop = (pair: Pair): void => {
    pair.isGone = true
    pair.client.destroy()
    pair.server.destroy()
    pairs.delete(pair)
  }
  const stall = (): void => {
    mode = 'stall'
    givenUp = 0
    stalled = 0
    for (const pair of pairs) pair.isStalled = false
  }
  const beginNext = (): void => {
    if (next === undefined || answers < next.afterAnswers) return
    if (next.mode === 'stall') stall()
    else mode = next.mode
  }
  const proxy = createServer((client) => {
    const pair: Pair = { client, server: connect(target, '127.0.0.1'), isStalled: false, isGone: false }
    pairs.add(pair)
    // A stalled connection is read, so that its end is seen; it is dropped when the stall ends.
    client.on('data', (chunk) => {
      if (mode === 'stall') {
        pair.isStalled = true
        stalled += 1
      } else pair.server.write(chunk)
    })
    pair.server.on('data', (chunk) => {
      // An interim answer, `100 Continue`, only asks for the body.
      if (chunk.subarray(0, 12).toString('latin1') === 'HTTP/1.1 100') client.write(chunk)
      else if (mode === 'pass') {
        client.write(chunk)
        answers += 1
        beginNext()
      } else held += 1
    })
    client.on('close', () => {
      if (mode === 'stall' && pair.isStalled && !pair.isGone) givenUp += 1
      drop(pair)
    })
    pair.server.on('close', () => {
      if (mode === 'pass') drop(pair)
    })
    // A reset shows as `close` too.
    for (const socket of [client, pair.server]) socket.on('error', () => socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no address')

  return {
    port: address.port,
    passTo: (port, then) => {
      if (mode !== 'pass' || port !== target) for (const pair of [...pairs]) drop(pair)
      target = port
      mode = 'pass'
      next = then
      answers = 0
      held = 0
      stalled = 0
      beginNext()
    },
    stall,
    held: () => held,
    stalled: () => stalled,
    givenUp: () => givenUp,
    close: async () => {
      for (const pair of [...pairs]) drop(pair)
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
