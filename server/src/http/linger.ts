import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How much of a request is read and dropped after its response: a sender that reads the response only after writing everything would otherwise
 * get a reset connection in its place.
 */
const DROPPED_BYTES_MAX = 512 * 2 ** 20
const DROPPED_MS_MAX = 30_000
const SILENCE_MS = 2_000
const CHECK_EVERY_MS = 50

/** Call it before a response to a request whose body has not been read to its end. A connection that has to close does so after that end. */
export function readToEnd(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  const dropped = new Promise<void>((done) => {
    response.once('close', () => void dropRest(socket, () => request.complete).then(done))
  })
  request.resume()
  const closeAfter = (): void => {
    socket.end()
    void dropped.then(() => socket.destroy())
  }
  // Node calls it after a response with `connection: close`.
  socket.destroySoon = closeAfter
  void dropped.then(() => {
    if (!request.complete) socket.destroy()
    else if (socket.destroySoon === closeAfter) delete (socket as Partial<Socket>).destroySoon
  })
}

/** Reads on until everything has arrived, or the rest takes too long or is too much. */
export function dropRest(socket: Socket, isComplete: () => boolean): Promise<void> {
  const before = socket.bytesRead
  const startedMs = performance.now()
  let [seen, seenMs] = [before, startedMs]
  return new Promise((done) => {
    const end = (): void => {
      clearInterval(watch)
      // A connection may have many requests whose rest is dropped.
      socket.off('close', end)
      done()
    }
    const watch = setInterval(() => {
      const nowMs = performance.now()
      if (socket.bytesRead !== seen) [seen, seenMs] = [socket.bytesRead, nowMs]
      const isTooMuch = seen - before > DROPPED_BYTES_MAX || nowMs - startedMs > DROPPED_MS_MAX || nowMs - seenMs > SILENCE_MS
      if (isComplete() || socket.destroyed || isTooMuch) end()
    }, CHECK_EVERY_MS)
    watch.unref()
    socket.once('close', end)
  })
}
