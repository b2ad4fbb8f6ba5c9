import type { FieldFacts } from './observe.ts'
import type { ContentPack, FieldName, FieldParameter } from './pack.ts'

/** A sample of recent events; without one, only names count. */
export type FieldSample = { readonly events: number; readonly facts: ReadonlyMap<string, FieldFacts> }

export type FittingField = { readonly field: string; readonly unit?: string }

/** The fields of a dataset that fit each field parameter of a pack, the best first. */
export type FittingFields = ReadonlyMap<string, readonly FittingField[]>

/** At least this share of the values must be of the kind that the parameter needs. */
const KIND_SHARE_MIN = 0.8
const CANDIDATES_MAX = 20
/** `http.response.status_code` matches below two more parts, such as `app.web`. */
const OUTER_PARTS_MAX = 2

/** The names of fields without regard to case, separators and outer parts. The names with the fewest outer parts come first. */
export type FieldIndex = ReadonlyMap<string, readonly string[]>

const plain = (name: string): string => name.toLowerCase().replace(/[._-]/g, '')

export function indexFields(fields: Iterable<string>): FieldIndex {
  const found = new Map<string, { field: string; outer: number }[]>()
  for (const field of fields) {
    const parts = field.replace(/^\$/, '').split('.')
    for (let outer = 0; outer <= OUTER_PARTS_MAX && outer < parts.length; outer += 1) {
      const name = plain(parts.slice(outer).join('.'))
      const same = found.get(name)
      if (same) same.push({ field, outer })
      else found.set(name, [{ field, outer }])
    }
  }
  const inOrder = (a: { field: string; outer: number }, b: { field: string; outer: number }) =>
    a.outer - b.outer || (a.field < b.field ? -1 : 1)
  return new Map([...found].map(([name, same]) => [name, same.sort(inOrder).map(({ field }) => field)]))
}

const usualNameOf = (name: FieldName): string => (typeof name === 'string' ? name : name.name)

/** Finds the fields with a usual name, in the order of the usual names. */
export function namedFields({ usualNames }: FieldParameter, index: FieldIndex): FittingField[] {
  const found = new Map<string, FittingField>()
  for (const usual of usualNames) {
    for (const field of index.get(plain(usualNameOf(usual))) ?? []) {
      if (!found.has(field)) found.set(field, { field, ...(typeof usual === 'string' ? {} : { unit: usual.unit }) })
    }
  }
  return [...found.values()].slice(0, CANDIDATES_MAX)
}

/** The fields with a usual name for any field parameter: those worth sampling. */
export const fieldsToSample = (packs: readonly ContentPack[], index: FieldIndex): ReadonlySet<string> =>
  new Set(packs.flatMap((pack) => fieldParameters(pack).flatMap((parameter) => namedFields(parameter, index).map(({ field }) => field))))

export const fieldParameters = ({ parameters }: ContentPack): FieldParameter[] => parameters.filter((one) => one.type === 'FIELD')

/** Finds the fields that fit, by name and by the values in the sample. A field that the sample lacks fits only as a text, after the others. */
export function fittingFields(pack: ContentPack, index: FieldIndex, sample: FieldSample): FittingFields {
  return new Map(
    fieldParameters(pack).map((parameter) => {
      const named = namedFields(parameter, index)
      if (sample.events === 0) return [parameter.name, named]
      const seen = named.filter(({ field }) => holds(parameter, sample.facts.get(field)))
      const unseen = parameter.holds === 'text' ? named.filter(({ field }) => !sample.facts.has(field)) : []
      return [parameter.name, [...seen, ...unseen]]
    }),
  )
}

const holds = ({ holds: kind }: FieldParameter, facts: FieldFacts | undefined): boolean =>
  facts !== undefined && facts.kinds[kind] > 0 && facts.kinds[kind] >= facts.count * KIND_SHARE_MIN

type Recognizable = { readonly collection: string; readonly index: FieldIndex; readonly sample: FieldSample }

/** The packs that suit a dataset, in the order of the catalog. */
export function recognize(packs: readonly ContentPack[], dataset: Recognizable): { pack: ContentPack; fields: FittingFields }[] {
  const suiting = packs.flatMap((pack) => {
    const fields = fittingFields(pack, dataset.index, dataset.sample)
    return suits(pack, dataset, fields) ? [{ pack, fields }] : []
  })
  return suiting.filter(({ pack }) => !suiting.some((other) => pack.unless?.includes(other.pack.id)))
}

function suits({ recognizedBy }: ContentPack, { collection, sample }: Recognizable, fields: FittingFields): boolean {
  if ('collection' in recognizedBy) return recognizedBy.collection === collection
  if (collection.startsWith('.')) return false
  const isThere = (name: string) => (fields.get(name) ?? []).some(({ field }) => sample.events === 0 || sample.facts.has(field))
  return recognizedBy.fields.some((names) => names.every(isThere))
}
