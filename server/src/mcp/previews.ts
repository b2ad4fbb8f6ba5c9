import { z } from 'zod'
import type { Actor } from '../http/actor.ts'
import { badField } from '../kernel/errors.ts'
import { Secret } from '../kernel/secret.ts'
import type { World } from '../world.ts'
import type { ToolAnswer, ToolContext } from './tool.ts'

/** A confirmation is valid until the end of the next window. */
const WINDOW_MS = 15 * 60_000
const DIGITS = 16

export const confirmArgument = {
  confirm: z.string().max(100).optional().describe('Without it nothing is created: the answer is a preview with the value to send here.'),
}

/**
 * The confirmations that are valid now for these arguments, the newest first. They are a keyed hash, so nothing is stored and every process
 * accepts them, and no preview of other arguments or of another caller confirms a change.
 */
export function confirmationsOf({ vault }: Pick<World, 'vault'>, actor: Actor, tool: string, nowMs: number, args: object): string[] {
  const window = Math.floor(nowMs / WINDOW_MS)
  return [window, window - 1].map((number) => {
    const text = JSON.stringify([actor.orgId, actor.identity.id, tool, number, args])
    return vault.hashOf('confirmation', new Secret(text)).toString('hex').slice(0, DIGITS)
  })
}

type Change<A> = {
  preview(args: A): Promise<ToolAnswer>
  create(args: A): Promise<ToolAnswer>
}

/** Previews a change, or makes it when the arguments come with the confirmation of their preview. */
export async function confirmed<A extends object>(
  { confirm, ...args }: A & { confirm?: string | undefined },
  context: ToolContext,
  { preview, create }: Change<Omit<A, 'confirm'>>,
): Promise<ToolAnswer> {
  const valid = context.confirmationsOf(args)
  if (confirm === undefined) {
    const answer = await preview(args)
    return { ...answer, summary: `Preview, nothing is created yet. ${answer.summary}`, facts: { ...answer.facts, confirm: valid[0] } }
  }
  if (!valid.includes(confirm))
    throw badField('confirm', 'is not from a preview of the same arguments in the last minutes; call without it to get a new preview')
  return create(args)
}
