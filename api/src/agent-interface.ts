import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { FailureBody, text } from './values.ts'

const Message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z
    .union([text(1, 255), z.number(), z.bigint()])
    .nullish()
    .describe('Absent for a notification, which is answered with 202 and no body. The protocol forbids null, so it is refused.'),
  method: text(1, 255).describe('Such as `initialize`, `tools/list` or `tools/call`.'),
  params: z.looseObject({}).optional(),
})
export type AgentMessage = z.output<typeof Message>

const ProtocolFailure = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number()]).nullish(),
    error: z.looseObject({
      code: z.int().describe('Such as -32602 for wrong parameters.'),
      message: z.string(),
      data: z.unknown().optional(),
    }),
  })
  .meta({ id: 'ProtocolFailure', description: 'An error of JSON-RPC: the message does not meet the Model Context Protocol.' })

export const agentInterface = {
  send: endpoint({
    method: 'POST',
    path: '/mcp',
    permission: 'any',
    tier: 'D',
    summary: 'Send a message of the Model Context Protocol (streamable HTTP, without sessions)',
    description:
      'The interface for agents. Its tools call the endpoints of this API as the caller, so the same permissions, policies, rate limits and query budgets apply. Every tool call is recorded in the audit trail. Errors of the protocol are JSON-RPC errors; a tool that fails answers with `isError`.',
    body: Message,
    reply: z.looseObject({ jsonrpc: z.literal('2.0') }),
    otherStatuses: { 202: 'A notification; there is no body.' },
    emptyStatuses: [202],
    failure: z.union([FailureBody, ProtocolFailure]),
  }),
}
