import { familyTemplate } from '../../../lines/family-form.ts'
import type { World } from '../../../world.ts'
import { selectFamiliesById } from '../../data/pattern-families/pattern-families.ts'
import { templateFor } from './template.ts'

/** An id of `@pattern`, and a dataset that has its events. */
type PatternPlace = { readonly id: string; readonly log_id: string }
type TemplateWriter = (place: PatternPlace, message: string | undefined, line: string) => string

/** Returns a function that writes the template of a family or pattern by one of its events. */
export async function templateWriter(
  { meta }: Pick<World, 'meta'>,
  orgId: string,
  places: readonly PatternPlace[],
): Promise<TemplateWriter> {
  const logIds = [...new Set(places.map(({ log_id }) => log_id))]
  const ids = [...new Set(places.map(({ id }) => id))]
  const families = new Map((await selectFamiliesById(meta, orgId, logIds, ids)).map(({ log_id, id, words }) => [`${log_id} ${id}`, words]))
  return ({ id, log_id }, message, line) => {
    const words = families.get(`${log_id} ${id}`)
    return words ? familyTemplate(words, message ?? line) : templateFor(id, message, line)
  }
}
