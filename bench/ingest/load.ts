import { openSync, readSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { FRAME_BYTES } from './otlp-file.ts'

/**
 * The senders of the ingestion benchmark, in a process of their own, so that their cost is not attributed to a system. The job is the first argument,
 * as JSON; the result is printed as JSON.
 */
export type LoadTarget = { url: string; headers: Record<string, string> }
/** SendFile posts a part of a file in whole lines, a body after another on each connection. */
export type SendFile = LoadTarget & {
  kind: 'file'
  file: string
  fromByte: number
  bytesMax: number
  connections: number
  bodyBytes: number
  /** The file holds bodies, not lines (otlp-file.ts). */
  isFramed: boolean
}
/** Lets writers post a few lines of a file each, and again after each response. */
export type SendSmall = LoadTarget & { kind: 'small'; file: string; writers: number; linesMax: number; warmMs: number; measuredMs: number }

/** The acknowledged data; wallMs runs from the first byte to the last acknowledgement, and an Ack is the time of one. */
export type Sent = { posts: number; bytes: number; lines: number; accepted: number; wallMs: number; acks: readonly Ack[]; nextByte: number }
export type Ack = { atMs: number; bytes: number; lines: number }
/** SentSmall counts the measured time; `lines` are all that were acknowledged, also before and after. */
export type SentSmall = {
  lines: number
  measuredLines: number
  measuredMs: number
  refused: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

const LINE_FEED = 10
const POOL_BYTES = 64 * 2 ** 20

const job = JSON.parse(process.argv[2] ?? '') as SendFile | SendSmall
const agent = new Agent({ keepAlive: true, maxSockets: job.kind === 'file' ? job.connections : job.writers })
process.stdout.write(JSON.stringify(job.kind === 'file' ? await sendFile(job) : await sendSmall(job)))
agent.destroy()

async function sendFile({ file, fromByte, bytesMax, connections, bodyBytes, isFramed, ...target }: SendFile): Promise<Sent> {
  const descriptor = openSync(file, 'r')
  const endByte = Math.min(statSync(file).size, fromByte + bytesMax)
  const acks: Ack[] = []
  let nextByte = fromByte
  let accepted = 0

  function nextBody(): { body: Buffer; lines: number } | undefined {
    if (nextByte >= endByte) return undefined
    return isFramed ? nextFrame() : nextLines()
  }

  function nextFrame(): { body: Buffer; lines: number } {
    const frame = Buffer.alloc(FRAME_BYTES)
    readSync(descriptor, frame, 0, FRAME_BYTES, nextByte)
    const body = Buffer.allocUnsafe(frame.readUInt32LE())
    readSync(descriptor, body, 0, body.length, nextByte + FRAME_BYTES)
    nextByte += FRAME_BYTES + body.length
    return { body, lines: frame.readUInt32LE(4) }
  }

  function nextLines(): { body: Buffer; lines: number } {
    const buffer = Buffer.allocUnsafe(bodyBytes)
    const chunk = buffer.subarray(0, readSync(descriptor, buffer, 0, bodyBytes, nextByte))
    const body = chunk.subarray(0, chunk.lastIndexOf(LINE_FEED) + 1)
    if (body.length === 0) throw new Error(`${file} has a line that is longer than a body`)
    nextByte += body.length
    return { body, lines: countLines(body) }
  }

  const startedMs = performance.now()
  async function send(): Promise<void> {
    for (let next = nextBody(); next; next = nextBody()) {
      const { body, lines } = next
      const { status, text } = await post(target, body)
      if (status < 200 || status > 299) throw new Error(`a body of ${body.length} bytes was answered with ${status}: ${text.slice(0, 500)}`)
      accepted += acceptedOf(text)
      acks.push({ atMs: performance.now() - startedMs, bytes: body.length, lines })
    }
  }
  await Promise.all(Array.from({ length: connections }, send))
  const sum = (of: (ack: Ack) => number) => acks.reduce((total, ack) => total + of(ack), 0)
  const wallMs = acks.at(-1)?.atMs ?? 0
  return { posts: acks.length, bytes: sum((ack) => ack.bytes), lines: sum((ack) => ack.lines), accepted, wallMs, acks, nextByte }
}

async function sendSmall({ file, writers, linesMax, warmMs, measuredMs, ...target }: SendSmall): Promise<SentSmall> {
  const pool = Buffer.alloc(Math.min(POOL_BYTES, statSync(file).size))
  readSync(openSync(file, 'r'), pool, 0, pool.length, 0)
  const fromMs = performance.now() + warmMs
  const untilMs = fromMs + measuredMs
  const latencies: number[] = []
  let [at, lines, measuredLines, refused, round] = [0, 0, 0, 0, 0]

  /** Takes one to linesMax lines; the sizes are spread evenly and the same in every run. */
  function takeLines(): { body: Buffer; count: number } {
    round += 1
    const wanted = 1 + ((round * 61) % linesMax)
    const start = at
    let count = 0
    while (count < wanted) {
      const feed = pool.indexOf(LINE_FEED, at)
      if (feed < 0) break
      at = feed + 1
      count += 1
    }
    const body = pool.subarray(start, at)
    if (count < wanted) at = 0
    return count > 0 ? { body, count } : takeLines()
  }

  async function write(): Promise<void> {
    while (performance.now() < untilMs) {
      const { body, count } = takeLines()
      const sentMs = performance.now()
      const { status } = await post(target, body)
      const nowMs = performance.now()
      const isMeasured = nowMs >= fromMs && nowMs < untilMs
      if (status > 299) refused += 1
      else lines += count
      if (status > 299) await new Promise((done) => setTimeout(done, 100))
      else if (isMeasured) {
        measuredLines += count
        latencies.push(nowMs - sentMs)
      }
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  latencies.sort((a, b) => a - b)
  const quantile = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return { lines, measuredLines, measuredMs, refused, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) }
}

function post({ url, headers }: LoadTarget, body: Buffer): Promise<{ status: number; text: string }> {
  return new Promise((done, fail) => {
    const sent = request(url, { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (part) => {
        text += part
      })
      answer.on('end', () => done({ status: answer.statusCode ?? 0, text }))
      answer.on('error', fail)
    })
    sent.on('error', fail)
    sent.end(body)
  })
}

/** The number of events that a response acknowledges, if it says so. */
function acceptedOf(text: string): number {
  return Number(/"accepted":(\d+)/.exec(text)?.[1] ?? 0)
}

function countLines(body: Buffer): number {
  let count = 0
  for (let at = body.indexOf(LINE_FEED); at >= 0; at = body.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}
