import { Command } from 'commander'
import { type Access, credentialFor } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import type { Terminal } from '../terminal.ts'

const NO_ANSWER = -32_000
const PARSE_ERROR = -32_700
/** Messages in progress; further ones wait. */
const RUNNING_MAX = 16
const VERSION_IN_MESSAGE = 'io.modelcontextprotocol/protocolVersion'

type Message = { jsonrpc?: unknown; id?: unknown; method?: unknown; params?: Readonly<Record<string, unknown>> }

/** Serves agents over standard input and output; every message is forwarded to the service, which has the tools. */
export function mcpCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('mcp').description(
    'Serve agents over standard input and output (Model Context Protocol), by forwarding to the service.',
  )
  addConnection(command).addHelpText(
    'after',
    '\nExamples:\n  dendro mcp --profile staging  # as the command of an agent; its key decides what the agent may do',
  )
  return command.action(async (options: Settings) => {
    await forwardLines(await credentialFor({ ...globals(), ...options }, terminal), terminal)
  })
}

async function forwardLines(access: Access, terminal: Terminal): Promise<void> {
  const forwarder = new Forwarder(access, terminal.signal)
  const running = new Set<Promise<void>>()
  for await (const line of linesOf(terminal.input())) {
    const work = forwarder.answer(line).then((reply) => (reply === undefined ? undefined : terminal.write(`${reply}\n`)))
    running.add(work)
    work.then(
      () => running.delete(work),
      () => undefined,
    )
    if (running.size >= RUNNING_MAX) await Promise.race(running)
  }
  await Promise.all(running)
}

/** The messages of standard input, one per line. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of input) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line.trim() !== '')
  }
  if (rest.trim() !== '') yield rest
}

/** Sends messages to the service and returns its replies as lines. */
class Forwarder {
  readonly #access: Access
  readonly #signal: AbortSignal
  readonly #running = new Map<unknown, AbortController>()
  /** The version that the handshake agreed on. */
  #version: string | undefined

  constructor(access: Access, signal: AbortSignal) {
    this.#access = access
    this.#signal = signal
  }

  /** The reply to a line; undefined for a notification and for a cancelled request. */
  async answer(line: string): Promise<string | undefined> {
    const message = parsed(line)
    if (message === undefined) return failureLine(null, PARSE_ERROR, 'the line is no JSON object')
    if (message.method === 'notifications/cancelled') this.#running.get(message.params?.requestId)?.abort()
    const cancelling = new AbortController()
    if (message.id !== undefined) this.#running.set(message.id, cancelling)
    try {
      return await this.#send(message, line, AbortSignal.any([this.#signal, cancelling.signal]))
    } catch (cause) {
      if (cancelling.signal.aborted || this.#signal.aborted || message.id === undefined) return undefined
      return failureLine(message.id, NO_ANSWER, `no answer from ${this.#access.url}: ${reasonOf(cause)}; check DENDRO_URL`)
    } finally {
      if (message.id !== undefined) this.#running.delete(message.id)
    }
  }

  async #send(message: Message, body: string, signal: AbortSignal): Promise<string | undefined> {
    const url = `${this.#access.url.replace(/\/+$/, '')}/mcp`
    const response = await fetch(url, { method: 'POST', headers: this.#headersOf(message), body, redirect: 'error', signal })
    const text = (await response.text()).replaceAll(/[\r\n]+/g, ' ').trim()
    if (text === '' || message.id === undefined) return undefined
    const reply = parsed(text)
    if (reply?.jsonrpc === undefined) return failureLine(message.id, NO_ANSWER, detailsOf(reply, response.status))
    if (message.method === 'initialize') this.#version = versionOf(reply)
    return text
  }

  /** The headers that the protocol requires over HTTP; newer versions name version and method in every message. */
  #headersOf({ method, params }: Message): Record<string, string> {
    const meta = params?._meta as Readonly<Record<string, unknown>> | undefined
    const named = meta?.[VERSION_IN_MESSAGE]
    const version = typeof named === 'string' ? named : this.#version
    return {
      authorization: `Bearer ${this.#access.key ?? this.#access.token ?? ''}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'user-agent': 'dendro-cli',
      ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
      ...(named === undefined ? {} : { 'mcp-method': String(method) }),
      ...(named !== undefined && typeof params?.name === 'string' && isPlain(params.name) ? { 'mcp-name': params.name } : {}),
    }
  }
}

const isPlain = (name: string): boolean => /^[!-~]+$/.test(name)

function parsed(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function versionOf(reply: object): string | undefined {
  const { result } = reply as { result?: { protocolVersion?: unknown } }
  return typeof result?.protocolVersion === 'string' ? result.protocolVersion : undefined
}

/** A failure of the service before the protocol, such as a wrong key. */
function detailsOf(reply: object | undefined, status: number): string {
  const { details } = (reply ?? {}) as { details?: unknown }
  return `${status}: ${typeof details === 'string' ? details : 'the service does not answer agents at this address'}`
}

const failureLine = (id: unknown, code: number, message: string): string => JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error && cause.cause.message ? cause.cause.message : cause.message
}
