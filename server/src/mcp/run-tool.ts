import { toFailure, unexpected } from '../http/failure-body.ts'
import { check } from '../http/validation.ts'
import { type Failure, forbidden } from '../kernel/errors.ts'
import { usesOtherName, withArgumentNames, withOwnNames } from './argument-names.ts'
import { Cuts } from './cuts.ts'
import { contentOf, type ToolContent } from './result.ts'
import type { AgentTool, ToolContext } from './tool.ts'

/** Arguments of tools are flat, where some endpoints have an inner object. */
const FLAT: ReadonlyMap<string, string> = new Map([['search_details.', '']])

/** The outcome of a tool call; a failure is an answer too, from which the agent can continue. */
export type ToolOutcome = { content: ToolContent; failure?: undefined } | { failure: Failure; cause?: unknown }

export type ToolRunContext = Omit<ToolContext, 'cuts'>

/** Checks permission and arguments, and runs the tool. */
export async function runTool(tool: AgentTool, args: unknown, context: ToolRunContext): Promise<ToolOutcome> {
  const cuts = new Cuts()
  try {
    const missing = tool.permissions.find((permission) => !context.actor.permissions.has(permission))
    if (missing !== undefined) throw forbidden(`${tool.name} needs the permission ${missing}, which the caller does not hold`)
    const answer = await tool.run(check(tool.input, withOwnNames(tool, args ?? {}), 'arguments'), { ...context, cuts })
    const more = Object.hasOwn(tool.input.shape, 'max_chars') ? 'request fewer rows with a larger max_chars' : 'the link shows them whole'
    return { content: contentOf(answer, cuts.notes(more)) }
  } catch (cause) {
    return { failure: withArgumentNames(toFailure(cause) ?? unexpected, namesFor(tool, args)), cause }
  }
}

/** Failures name the argument that was given. */
const namesFor = (tool: AgentTool, args: unknown): ReadonlyMap<string, string> => {
  const names = tool.argumentNames ?? FLAT
  return usesOtherName(tool, args) ? new Map([...names].map(([field, own]) => [own, field])) : names
}
