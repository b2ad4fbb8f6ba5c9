import type { IncomingHttpHeaders } from 'node:http'
import type { AgentMessage } from '@dendro/api'
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { check } from '../http/validation.ts'
import { Failure } from '../kernel/errors.ts'
import type { ToolContent } from './result.ts'

/** One exchange: the tools of the caller, and how to call one. */
export type AgentSession = {
  version: string
  instructions: string
  listed: readonly Tool[]
  /** Undefined for a name that no tool has. */
  call(name: string, args: unknown): Promise<{ content: ToolContent; isError: boolean } | undefined>
}

export type ProtocolReply = { status: number; json: string }

/** The name is not repeated: it may be any text. */
const UNKNOWN_TOOL = 'params.name is no tool; tools/list has those that the caller may use'

/** The parameters of requests, for which the library reports what its parser prints, and of the handshake even an internal error. */
const parameters: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  [
    'initialize',
    z.object({
      protocolVersion: z.string(),
      capabilities: z.looseObject({}),
      clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
    }),
  ],
  ['tools/call', z.object({ name: z.string(), arguments: z.looseObject({}).optional() })],
])

const INVALID_REQUEST = -32_600
const INVALID_PARAMS = -32_602

/** JSON-RPC knows requests with the id null, which are no notifications; the protocol forbids them. */
function nullId(): ProtocolReply {
  const error = { code: INVALID_REQUEST, message: 'id must be text or a number, not null; a notification has no id' }
  return { status: 400, json: JSON.stringify({ jsonrpc: '2.0', id: null, error }) }
}

/** The error of the protocol for a request with wrong parameters. */
function refusalOf({ id, method, params = {} }: AgentMessage): ProtocolReply | undefined {
  const schema = parameters.get(method)
  if (!schema || typeof id === 'bigint' || id === undefined || id === null) return undefined
  try {
    check(z.object({ params: schema }), { params }, 'message')
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { status: 200, json: JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message: thrown.message } }) }
  }
}

/** The headers by which the protocol checks a message. */
const PROTOCOL_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

/**
 * Answers one message. Nothing is kept between messages, so every process can answer every one. The library is loaded with the first message:
 * it takes 100 ms, and most services never need it.
 */
export async function answerMessage(
  message: AgentMessage,
  headers: IncomingHttpHeaders,
  session: AgentSession,
  signal: AbortSignal,
): Promise<ProtocolReply> {
  const refusal = message.id === null ? nullId() : refusalOf(message)
  if (refusal) return refusal
  const { createMcpHandler, isLegacyRequest, ProtocolError, ProtocolErrorCode, Server, WebStandardStreamableHTTPServerTransport } =
    await import('@modelcontextprotocol/server')
  const open = () => {
    const server = new Server(
      { name: 'dendro', title: 'Dendro', version: session.version },
      { capabilities: { tools: {} }, instructions: session.instructions },
    )
    server.setRequestHandler('tools/list', () => ({ tools: [...session.listed] }))
    server.setRequestHandler('tools/call', async ({ params }) => {
      const called = await session.call(params.name, params.arguments)
      if (!called) throw new ProtocolError(ProtocolErrorCode.InvalidParams, UNKNOWN_TOOL)
      const { content, isError } = called
      return { content: [{ type: 'text' as const, text: content.text }], structuredContent: content.structured, isError }
    })
    return server
  }
  const request = requestOf(headers, signal)
  const given = { parsedBody: message }
  if (!(await isLegacyRequest(request, message))) return replyOf(await createMcpHandler(open, { legacy: 'reject' }).fetch(request, given))
  // Earlier versions of the protocol begin with a handshake. By default their transport answers with a stream.
  const server = open()
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await replyOf(await transport.handleRequest(request, given))
  } finally {
    await server.close()
  }
}

/** The message as the library expects it. Its body is parsed already; we always answer in JSON. */
function requestOf(headers: IncomingHttpHeaders, signal: AbortSignal): Request {
  const kept = PROTOCOL_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  const own: [string, string][] = [
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream'],
  ]
  return new Request('http://localhost/mcp', { method: 'POST', headers: [...own, ...kept], signal })
}

const replyOf = async (response: Response): Promise<ProtocolReply> => ({ status: response.status, json: await response.text() })
