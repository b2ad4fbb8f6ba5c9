import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { request as secureRequest, Agent as TlsAgent } from 'node:https'
import { type ClickHouseSettings, parseError } from '@clickhouse/client'
import type { StoreAddress, StoreLogin } from './address.ts'

/** A statement in an HTTP body. Aborting the signal closes the connection, which ends the statement. */
export type ReadStatement = {
  readonly body: string
  readonly contentType: string
  readonly queryId: string
  readonly settings: ClickHouseSettings
  readonly signal: AbortSignal
}

/** A complete result, and what was read for it. */
export type ReadResult = { readonly bytes: Buffer; readonly readRows: number; readonly readBytes: number }

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
  const request = isSecure ? secureRequest : plainRequest
  const authorization = `Basic ${Buffer.from(`${login.user}:${login.password.reveal()}`).toString('base64')}`
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    run: ({ body, contentType, queryId, settings, signal }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const path = `/?${parametersOf({ ...options.settings, ...settings }, database, queryId)}`
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
            const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
            if (isFailure(answer)) reject(parseError(bytes.toString('utf8')))
            else resolve({ bytes, ...costIn(answer) })
          })
        })
        sent.end(body)
      }),
    close: () => agent.destroy(),
  }
}

function parametersOf(settings: ClickHouseSettings, database: string, queryId: string): string {
  const parameters = new URLSearchParams({ query_id: queryId, database })
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined) parameters.set(name, typeof value === 'boolean' ? String(Number(value)) : String(value))
  }
  return parameters.toString()
}

/** A statement may fail after the status was sent. */
const isFailure = ({ statusCode = 0, headers }: IncomingMessage): boolean =>
  statusCode < 200 || statusCode >= 300 || headers['x-clickhouse-exception-code'] !== undefined

function costIn({ headers }: IncomingMessage): Pick<ReadResult, 'readRows' | 'readBytes'> {
  const summary = headers['x-clickhouse-summary']
  const cost: unknown = typeof summary === 'string' ? JSON.parse(summary) : {}
  return { readRows: numberIn(cost, 'read_rows'), readBytes: numberIn(cost, 'read_bytes') }
}

const numberIn = (cost: unknown, name: string): number =>
  typeof cost === 'object' && cost !== null && name in cost ? Number((cost as Record<string, unknown>)[name]) || 0 : 0
