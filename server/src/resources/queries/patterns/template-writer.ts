import { familyTemplate } from '../../../patterns/family-form.ts'
import type { World } from '../../../world.ts'
import { selectFamiliesById } from '../../data/pattern-families/pattern-families.ts'
import { templateFor } from './template.ts'

/** A value of `@pattern`, and the dataset if only one has its events. */
type PatternPlace = { readonly id: string; readonly log_id?: string }
type TemplateWriter = (place: PatternPlace, message: string | undefined, line: string) => string

/** Returns a function that writes the template of a family or pattern by one of its events, which come from some datasets. */
export async function templateWriter(world: Pick<World, 'meta'>, orgId: string, places: PatternPlaces): Promise<TemplateWriter> {
  const wordsOf = await familyWords(world, orgId, places)
  return (place, message, line) => writeTemplate(place.id, wordsOf(place), message, line)
}

type PatternPlaces = { readonly logIds: readonly string[]; readonly ids: readonly string[] }

/** Returns a function that looks up the words of a family. Patterns without one have none. */
export async function familyWords(
  { meta }: Pick<World, 'meta'>,
  orgId: string,
  { logIds, ids }: PatternPlaces,
): Promise<(place: PatternPlace) => readonly string[] | undefined> {
  const families = new Map<string, readonly string[]>()
  for (const { log_id, id, words } of await selectFamiliesById(meta, orgId, logIds, ids))
    families.set(id, words).set(`${log_id} ${id}`, words)
  return ({ id, log_id }) => families.get(`${log_id} ${id}`) ?? families.get(id)
}

/** Writes the template of a family or pattern by one of its events. */
export const writeTemplate = (id: string, words: readonly string[] | undefined, message: string | undefined, line: string): string =>
  words ? familyTemplate(words, message ?? line) : templateFor(id, message, line)
