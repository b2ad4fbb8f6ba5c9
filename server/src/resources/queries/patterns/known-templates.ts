import { cacheKey, FairMemory } from '../../../events/store/shared-values.ts'
import { oncePerObject } from '../../../kernel/once-per-object.ts'
import type { Meta } from '../../../meta/meta.ts'
import type { EventQuery } from '../../../reading/query.ts'

/** The memory for templates of a process. */
const BYTES_MAX = 8 * 2 ** 20
/** The memory of a template besides its texts, about. */
const TEMPLATE_BYTES = 128

const memoryOf = oncePerObject((_: Meta) => new FairMemory<string>(BYTES_MAX))

/** What a template is written from, besides an event: the words of a family, if the id is one. */
type Written = { readonly id: string; readonly log_id: string; readonly words: readonly string[] | undefined }

/** Templates that were written before, so that no event has to be read for them again. */
export type KnownTemplates = { find(of: Written): string | undefined; keep(of: Written, template: string): void }

/** Where a reader sees only some events of a dataset, templates are written from these. */
export function knownTemplates(meta: Meta, { orgNumber, sources }: EventQuery): KnownTemplates {
  const memory = memoryOf(meta)
  const whole = new Set(sources.flatMap(({ logId, required }) => (required ? [] : [logId])))
  const nameOf = ({ id, log_id, words }: Written) => cacheKey([log_id, id, words])
  return {
    find: (of) => (whole.has(of.log_id) ? memory.get(orgNumber, nameOf(of)) : undefined),
    keep(of, template) {
      const name = nameOf(of)
      if (whole.has(of.log_id)) memory.set(orgNumber, name, template, TEMPLATE_BYTES + 2 * (name.length + template.length))
    },
  }
}
