import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWire, repliesIn } from '../../../test/support/http-raw.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { dropRest } from './linger.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const MIB = 2 ** 20
const BODY_BYTES = 200 * MIB

/** Writes a whole request and only then begins to read. */
async function readingLate(
  head: readonly string[],
  isChunked: boolean,
  bodyBytes = BODY_BYTES,
): Promise<ReturnType<typeof repliesIn>[number] | undefined> {
  const { socket, text } = openWire(app.url)
  text.catch(() => undefined)
  socket.pause()
  let failure: Error | undefined
  socket.on('error', (cause) => {
    failure = cause
  })
  const framing = isChunked ? 'transfer-encoding: chunked' : `content-length: ${bodyBytes}`
  socket.write(`${[...head, framing].join('\r\n')}\r\n\r\n`)
  const part = Buffer.alloc(MIB, 'a')
  const chunk = isChunked ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]) : part
  for (let sent = 0; sent < bodyBytes && !failure; sent += MIB) if (!socket.write(chunk)) await once(socket, 'drain')
  if (isChunked) socket.write('0\r\n\r\n')
  if (failure) throw failure
  socket.once('data', () => socket.end())
  socket.resume()
  const [reply] = repliesIn(await text)
  return reply
}

const refusals: { what: string; head: (key: string) => string[]; status: number; bodyBytes?: number }[] = [
  { what: 'a line that is too long', head: (key) => ['POST /ingest HTTP/1.1', `x-service-api-key: ${key}`], status: 413 },
  { what: 'an unknown key', head: () => ['POST /ingest HTTP/1.1', 'x-service-api-key: dk_unknown'], status: 401 },
  { what: 'no key', head: () => ['POST /monitors HTTP/1.1'], status: 401 },
  { what: 'a JSON body that is too long', head: (key) => ['POST /monitors HTTP/1.1', `x-service-api-key: ${key}`], status: 413 },
  { what: 'an unknown path', head: (key) => ['PUT /none HTTP/1.1', `x-service-api-key: ${key}`], status: 404 },
  {
    what: 'headers that are too large',
    head: (key) => ['POST /ingest HTTP/1.1', `x-service-api-key: ${key}`, `x-a: ${'a'.repeat(80_000)}`],
    status: 431,
  },
]

test.each(refusals)('a sender that reads late receives the refusal of $what', async ({ head, status }) => {
  for (const connection of ['close', 'keep-alive']) {
    for (const isChunked of [false, true]) {
      const reply = await readingLate(
        [...head(org.key), 'host: x', `connection: ${connection}`],
        isChunked,
        status === 431 ? 8 * MIB : BODY_BYTES,
      )
      expect({ connection, isChunked, status: reply?.status }).toEqual({ connection, isChunked, status })
    }
  }
})

test('a refused upload that stalls is closed, and its sender has the answer', async () => {
  const { socket, text } = openWire(app.url)
  socket.write('POST /ingest HTTP/1.1\r\nhost: x\r\nx-service-api-key: dk_unknown\r\ncontent-length: 1000\r\n\r\n{"message":')
  const [reply] = repliesIn(await text)
  expect(reply?.status).toBe(401)
})

test('a connection on which requests were dropped is watched no longer', async () => {
  const { socket, text } = openWire(app.url)
  text.catch(() => undefined)
  await once(socket, 'connect')
  const before = socket.listenerCount('close')
  for (let request = 0; request < 3; request += 1) await dropRest(socket, () => true)
  expect(socket.listenerCount('close')).toBe(before)
  socket.destroy()
})
