import { familyTemplate } from '../../../patterns/family-form.ts'
import type { World } from '../../../world.ts'
import { selectFamiliesById } from '../../data/pattern-families/pattern-families.ts'
import { templateFor } from './template.ts'

/** A value of `@pattern`, and the dataset if only one has its events. */
type PatternPlace = { readonly id: string; readonly log_id?: string }
type TemplateWriter = (place: PatternPlace, message: string | undefined, line: string) => string

/** Returns a function that writes the template of a family or pattern by one of its events, which come from some datasets. */
export async function templateWriter(
  { meta }: Pick<World, 'meta'>,
  orgId: string,
  { logIds, ids }: { readonly logIds: readonly string[]; readonly ids: readonly string[] },
): Promise<TemplateWriter> {
  const families = new Map<string, readonly string[]>()
  for (const { log_id, id, words } of await selectFamiliesById(meta, orgId, logIds, ids))
    families.set(id, words).set(`${log_id} ${id}`, words)
  return ({ id, log_id }, message, line) => {
    const words = families.get(`${log_id} ${id}`) ?? families.get(id)
    return words ? familyTemplate(words, message ?? line) : templateFor(id, message, line)
  }
}
