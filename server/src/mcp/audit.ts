import type { Actor } from '../http/actor.ts'
import type { Failure } from '../kernel/errors.ts'
import { shorten } from '../kernel/shorten.ts'
import { auditActorOf, recordChange, recordRefusal } from '../resources/access/audit/audit.ts'
import type { World } from '../world.ts'

const TEXT_CHARS_MAX = 200
const ARGUMENTS_MAX = 30
const ARGUMENTS_CHARS_MAX = 4_000
const NAME_CHARS_MAX = 100

type ToolCall = { name: string; args: unknown; failure: Failure | undefined }

/** Records every call of a tool, with a summary of its arguments. What a tool creates has a record of its own besides. */
export async function recordToolCall(world: World, actor: Actor, { name, args, failure }: ToolCall): Promise<void> {
  const who = auditActorOf(actor)
  const entity = { type: 'tool', id: name.slice(0, NAME_CHARS_MAX) }
  if (failure === undefined) return recordChange(world, world.meta, who, { entity, after: { arguments: summaryOf(args), status: 200 } })
  const after = { arguments: summaryOf(args), status: failure.status, failure: failure.message.slice(0, TEXT_CHARS_MAX) }
  return recordRefusal(world, who, { entity, after })
}

/** Shortens long texts; NUL characters cannot be stored. */
function summaryOf(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return {}
  const short = Object.fromEntries(
    Object.entries(args)
      .slice(0, ARGUMENTS_MAX)
      .map(([name, value]) => [plain(name), shortened(value)]),
  )
  const text = JSON.stringify(short)
  return text.length <= ARGUMENTS_CHARS_MAX ? short : { summary: shorten(text, ARGUMENTS_CHARS_MAX) }
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return plain(shorten(value, TEXT_CHARS_MAX))
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.slice(0, ARGUMENTS_MAX).map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ARGUMENTS_MAX)
      .map(([name, inner]) => [plain(name), shortened(inner)]),
  )
}

const plain = (text: string): string => text.replaceAll('\0', '').toWellFormed()
