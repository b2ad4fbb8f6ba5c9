import type { TaggedType } from '@dendro/api'
import type { ConfigFields, ConfigService, Send } from '../kind.ts'

/** Writes the tags of a record whose own update does not have them: only those that differ. */
export async function writeTags(
  { client, signal }: ConfigService,
  entity: { id: string; type: TaggedType },
  { before, after }: { before: unknown; after: unknown },
  send: Send,
): Promise<void> {
  const [known, wanted] = [tagsOf(before), tagsOf(after)]
  for (const name of Object.keys(known)) {
    if (!Object.hasOwn(wanted, name)) await send(() => client.tags.remove({ body: { name, entity }, signal }))
  }
  for (const [name, value] of Object.entries(wanted)) {
    if (!Object.hasOwn(known, name)) await send(() => client.tags.create({ body: { name, value, entity }, signal }))
    else if (known[name] !== value) await send(() => client.tags.update({ body: { name, value, entity }, signal }))
  }
}

const tagsOf = (tags: unknown): Record<string, string> => (tags ?? {}) as ConfigFields as Record<string, string>
