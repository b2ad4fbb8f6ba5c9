import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { request as secureRequest, Agent as TlsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { type ClickHouseSettings, parseError } from '@clickhouse/client'
import { unavailable } from '../../kernel/errors.ts'
import { nextStep, Stretch } from '../../kernel/steps.ts'
import type { StoreAddress, StoreLogin } from './address.ts'

/** A statement in an HTTP body. Aborting the signal closes the connection, which ends the statement. */
export type ReadStatement = {
  readonly body: string
  readonly contentType: string
  readonly queryId: string
  readonly settings: ClickHouseSettings
  readonly signal: AbortSignal
  /** Older events are not read; without it, events of any age may be. */
  readonly fromMs?: number
  /** A longer result fails. */
  readonly resultBytesMax: number
}

/** A complete result, the number of its rows, and what was read for it. */
export type ReadResult = { readonly bytes: Buffer; readonly rows: number; readonly readRows: number; readonly readBytes: number }

/** Runs statements that read, over kept connections. */
export type Reads = { run(statement: ReadStatement): Promise<ReadResult>; close(): void }

type ReadsOptions = { readonly settings: ClickHouseSettings; readonly connectionsMax: number; readonly idleMs: number }

/**
 * The client of the store waits for a timer before each statement and passes bodies and results through streams: half of the time of the service for a
 * short query. Here a statement is one write to a kept connection.
 */
export function openReads({ url, database }: Pick<StoreAddress, 'url' | 'database'>, login: StoreLogin, options: ReadsOptions): Reads {
  const { protocol, hostname, port } = new URL(url)
  const isSecure = protocol === 'https:'
  const agentOptions = { keepAlive: true, maxSockets: options.connectionsMax, timeout: options.idleMs }
  const agent = isSecure ? new TlsAgent(agentOptions) : new PlainAgent(agentOptions)
  const closeStale = closingStale(agent, options.idleMs)
  const request = isSecure ? secureRequest : plainRequest
  const authorization = `Basic ${Buffer.from(`${login.user}:${login.password.reveal()}`).toString('base64')}`
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    run: ({ body, contentType, queryId, settings, signal, resultBytesMax }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        closeStale()
        const whole = wholeResult(resultBytesMax)
        const path = `/?${parametersOf({ ...options.settings, ...settings, ...whole }, database, queryId)}`
        const headers = { authorization, 'content-type': contentType, 'user-agent': 'dendro' }
        const sent = request({ agent, host, port, method: 'POST', path, headers })
        const end = () => sent.destroy(signal.reason instanceof Error ? signal.reason : new Error('the read was aborted'))
        signal.addEventListener('abort', end, { once: true })
        const settled = (): void => signal.removeEventListener('abort', end)
        const fail = (cause: unknown): void => {
          settled()
          reject(cause)
        }
        sent.on('error', fail)
        sent.once('response', (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('error', fail)
          answer.once('end', () => {
            settled()
            concatInSteps(chunks)
              .then((bytes) => {
                if (isFailure(answer)) throw parseError(bytes.toString('utf8'))
                return completeResult(bytes, answer.headers, resultBytesMax)
              })
              .then(resolve, reject)
          })
        })
        sent.end(body)
      }),
    close: () => agent.destroy(),
  }
}

/** After a longer result others go first, since reading its rows takes long as well. */
const LONG_BYTES = 256 * 1_024

/** Copies a long result with pauses, and lets go of what it has copied. */
async function concatInSteps(chunks: (Buffer | undefined)[]): Promise<Buffer> {
  const [first] = chunks
  if (chunks.length === 1 && first) return first
  const whole = Buffer.allocUnsafe(chunks.reduce((sum, chunk) => sum + (chunk?.length ?? 0), 0))
  const stretch = new Stretch()
  let at = 0
  for (const [index, chunk] of chunks.entries()) {
    if (chunk) at += chunk.copy(whole, at)
    chunks[index] = undefined
    const pause = stretch.pause()
    if (pause) await pause
  }
  if (whole.length >= LONG_BYTES) await nextStep()
  return whole
}

/** Closes unused connections that the store may have given up by now. Their timers may be late when the service is busy. */
function closingStale(agent: PlainAgent, idleMs: number): () => void {
  const freeSinceMs = new WeakMap<Duplex, number>()
  agent.on('free', (socket: Duplex) => freeSinceMs.set(socket, performance.now()))
  return () => {
    const nowMs = performance.now()
    for (const sockets of Object.values(agent.freeSockets)) {
      for (const socket of sockets ?? []) if (nowMs - (freeSinceMs.get(socket) ?? nowMs) >= idleMs) socket.destroy()
    }
  }
}

function parametersOf(settings: ClickHouseSettings, database: string, queryId: string): string {
  const parameters = new URLSearchParams({ query_id: queryId, database })
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined) parameters.set(name, typeof value === 'boolean' ? String(Number(value)) : String(value))
  }
  return parameters.toString()
}

/**
 * The store sends a result when it is complete, so that a late error is an error and not a partial result. It collects the result in memory: what does not
 * fit goes to a temporary file, and on a full disk the store loses this part without an error.
 */
const wholeResult = (bytesMax: number): ClickHouseSettings => ({ wait_end_of_query: 1, http_response_buffer_size: String(bytesMax) })

/** Only a result that the store's own summary describes, and that no temporary file held, is taken for complete. */
function completeResult(bytes: Buffer, headers: IncomingMessage['headers'], bytesMax: number): ReadResult {
  const summary = summaryIn(headers)
  const rows = numberIn(summary, 'result_rows')
  if (rows === undefined) throw incompleteResult('has no summary')
  if (bytes.length >= bytesMax) throw parseError(`Code: 396. DB::Exception: Limit for result exceeded (TOO_MANY_ROWS_OR_BYTES)`)
  if (rows > 0 !== bytes.length > 0) throw incompleteResult(`has ${rows} rows and ${bytes.length} bytes`)
  return { bytes, rows, readRows: numberIn(summary, 'read_rows') ?? 0, readBytes: numberIn(summary, 'read_bytes') ?? 0 }
}

/** Reading again may help, so this is 503. */
export const incompleteResult = (reason: string): Error =>
  unavailable('the event store returned an incomplete result', { cause: new Error(`a result of the event store ${reason}`) })

/** A statement may fail after the status was sent. */
const isFailure = ({ statusCode = 0, headers }: IncomingMessage): boolean =>
  statusCode < 200 || statusCode >= 300 || headers['x-clickhouse-exception-code'] !== undefined

function summaryIn(headers: IncomingMessage['headers']): unknown {
  const summary = headers['x-clickhouse-summary']
  if (typeof summary !== 'string') return undefined
  try {
    return JSON.parse(summary)
  } catch (cause) {
    throw unavailable('the event store returned an incomplete result', { cause })
  }
}

function numberIn(summary: unknown, name: string): number | undefined {
  if (typeof summary !== 'object' || summary === null || !(name in summary)) return undefined
  const value = Number((summary as Record<string, unknown>)[name])
  return Number.isFinite(value) ? value : undefined
}
