import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { listedTool } from './listed-tool.ts'
import { FailureAnswer } from './output-schema.ts'
import type { AgentTool } from './tool.ts'
import { agentTools } from './tools.ts'

/** The answer of a tool, as an agent reads it. */
export type AgentAnswer = {
  isError: boolean
  text: string
  body: {
    summary: string
    link?: string
    notes?: string[]
    confirm?: string
    untrusted_data?: Record<string, unknown>
    error?: { code: number; details: string; errors?: { field: string }[] }
    [name: string]: unknown
  }
}

const schemas = new AjvJsonSchemaValidator()

/** Checks an answer as the official client does, also where it does not: those of failures. */
export const checkListed = (tool: AgentTool, answer: unknown) => schemas.getValidator(listedTool(tool).outputSchema ?? {})(answer)

export type ConnectedAgent = {
  client: Client
  tool(name: string, args?: Record<string, unknown>): Promise<AgentAnswer>
  close(): Promise<void>
}

/** Connects the official client over HTTP. */
export async function connectAgent(url: string, key: string, options: ClientOptions = {}): Promise<ConnectedAgent> {
  const headers = { authorization: `Bearer ${key}` }
  return agentOf(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }), options)
}

export async function agentOf(transport: Parameters<Client['connect']>[0], options: ClientOptions = {}): Promise<ConnectedAgent> {
  const client = new Client({ name: 'test', version: '1' }, options)
  await client.connect(transport)
  return {
    client,
    tool: async (name, args = {}) => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args })
      const [part] = content
      const text = part?.type === 'text' ? part.text : ''
      const tool = agentTools.find((one) => one.name === name)
      const schema = isError ? FailureAnswer : tool?.output
      const answered = schema?.safeParse(structuredContent)
      if (answered?.success !== true) throw new Error(`the answer of ${name} is not as declared: ${answered?.error.message} in ${text}`)
      const listed = tool && checkListed(tool, structuredContent)
      if (listed?.valid !== true) throw new Error(`the answer of ${name} is not as listed: ${listed?.errorMessage} in ${text}`)
      if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(structuredContent)) throw new Error('text and structured content differ')
      return { isError: isError === true, text, body: structuredContent as AgentAnswer['body'] }
    },
    close: () => client.close(),
  }
}
