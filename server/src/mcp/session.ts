import { type Actor, hasPermission } from '../http/actor.ts'
import type { CallEndpoint } from '../http/inner-calls.ts'
import { badField } from '../kernel/errors.ts'
import type { World } from '../world.ts'
import { recordToolCall } from './audit.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { listedTool } from './listed-tool.ts'
import { confirmationsOf } from './previews.ts'
import type { AgentSession } from './protocol.ts'
import { contentOfFailure } from './result.ts'
import { runTool } from './run-tool.ts'
import { agentTools } from './tools.ts'

const byName = new Map(agentTools.map((tool) => [tool.name, tool]))

/** The tools as one caller sees them. A tool that the caller may not use is not listed, and refused when called. */
export function openSession(world: World, actor: Actor, call: CallEndpoint): AgentSession {
  return {
    version: world.deployment.version,
    instructions: INSTRUCTIONS,
    listed: agentTools.filter(({ permissions }) => permissions.every((name) => hasPermission(actor, name))).map(listedTool),
    call: async (name, args) => {
      const tool = byName.get(name)
      const nowMs = world.clock.nowMs()
      if (!tool) {
        await recordToolCall(world, actor, { name, args, failure: badField('name', 'is no tool') })
        return undefined
      }
      const confirmations = (given: object) => confirmationsOf(world, actor, name, nowMs, given)
      const outcome = await runTool(tool, args, { actor, call, nowMs, confirmationsOf: confirmations })
      await recordToolCall(world, actor, { name, args, failure: outcome.failure })
      if (outcome.failure === undefined) return { content: outcome.content, isError: false }
      if (outcome.failure.status >= 500)
        world.log.warn(
          { err: outcome.cause, tool: name, correlation_id: actor.facts.correlationId },
          'a tool of the agent interface failed',
        )
      return { content: contentOfFailure(outcome.failure, actor.facts.correlationId), isError: true }
    },
  }
}
