import { isUuid } from '@dendro/api'
import { type Difference, differencesOf, pathText } from './differences.ts'
import { hideValues, mapTexts, pathKey } from './environment.ts'
import type { Inventory, NamedObject } from './inventory.ts'
import { type ConfigFields, type Kind, type ReferenceKind, SECRET, type Stored } from './kind.ts'
import { orderDifferences } from './order.ts'
import { type PreparedDocument, placeOf } from './prepare.ts'
import type { References } from './references.ts'

export type Change = { kind: Kind; name: string; differences: readonly Difference[] } & (
  | { action: 'create'; document: PreparedDocument }
  | { action: 'change'; document: PreparedDocument; stored: Stored }
  | { action: 'delete'; stored: Stored }
  /** Puts the objects of a kind into the order of these names. */
  | { action: 'order'; names: readonly string[] }
)

export type Plan = { changes: readonly Change[]; unchanged: number; problems: readonly string[] }

export type PlanOptions = { kinds: readonly Kind[]; prune: boolean; writeSecrets: boolean }

/**
 * Compares the documents with the service. Changes are in the order in which they must be made: what is referred to comes first, and deletions come
 * last, in the opposite order.
 */
export async function planChanges(
  prepared: readonly PreparedDocument[],
  inventory: Inventory,
  references: References,
  { kinds, prune, writeSecrets }: PlanOptions,
): Promise<Plan> {
  const present = kinds.filter((kind) => prepared.some((one) => one.kind === kind))
  const writes: Change[] = []
  const deletions: Change[] = []
  const problems: string[] = []
  let unchanged = 0
  for (const kind of present) {
    const documents = prepared.filter((one) => one.kind === kind)
    const listed = await inventory.objects(kind)
    const objects = byName(listed)
    for (const document of documents) {
      const [object, ...others] = objects.get(document.name) ?? []
      const problem = object && problemWith(document, [object, ...others])
      if (problem !== undefined) {
        problems.push(problem)
        continue
      }
      const change = changeOf(document, object, references, writeSecrets)
      if (change?.action === 'change' && impossible(change).length > 0) problems.push(unchangeable(change))
      else if (change) writes.push(change)
      else unchanged += 1
    }
    writes.push(...orderChange(kind, documents, listed))
    if (prune) deletions.unshift(...deletionsOf(kind, documents, listed))
  }
  problems.push(...(await brokenReferences(prepared, inventory, deletions)))
  return { changes: [...writes, ...deletions], unchanged, problems }
}

/** `Map.groupBy` needs Node 21. */
function byName(objects: readonly NamedObject[]): Map<string, NamedObject[]> {
  const grouped = new Map<string, NamedObject[]>()
  for (const object of objects) {
    const group = grouped.get(object.name)
    if (group) group.push(object)
    else grouped.set(object.name, [object])
  }
  return grouped
}

function problemWith({ document, kind, name }: PreparedDocument, objects: readonly NamedObject[]): string | undefined {
  if (objects.length > 1)
    return `${placeOf(document)}: ${objects.length} objects of the service are ${kind.name} ${name}, so that none can be chosen; rename or delete one of ${objects.map(({ stored }) => stored.id).join(', ')}`
  if (objects[0]?.stored.isFixed) return `${placeOf(document)}: ${kind.name} ${name} belongs to the service and cannot be changed by files`
  return undefined
}

/** The differences that the service cannot bring about. */
const impossible = ({ kind, differences }: Pick<Change, 'kind' | 'differences'>): readonly Difference[] =>
  kind.update ? differences.filter(({ path }) => (kind.neverChange ?? []).some((member) => member === path[0])) : differences

function unchangeable({ kind, name, document, differences }: Change & { action: 'change' }): string {
  const fields = impossible({ kind, differences })
    .map(({ path }) => pathText(path))
    .join(', ')
  return `${placeOf(document.document)}: ${kind.name} ${name} cannot be changed (${fields}): delete it, then it is created again`
}

function changeOf(
  document: PreparedDocument,
  object: NamedObject | undefined,
  references: References,
  writeSecrets: boolean,
): Change | undefined {
  const { kind, name } = document
  const after = comparable(
    kind,
    references.replaced(document.fields, (reference) => reference.name),
  )
  if (!object) return { action: 'create', kind, name, document, differences: shown(differencesOf({}, after), document) }
  const { stored } = object
  const kept = (kind.keeps ?? []).filter((member) => after[member] === undefined)
  const before = withoutSecrets(kind, Object.fromEntries(Object.entries(object.fields).filter(([member]) => !kept.includes(member))))
  const differences = differencesOf(before, after)
  const rewritten = writeSecrets && kind.update ? secretsOf(kind, after) : []
  if (differences.length === 0 && rewritten.length === 0) return undefined
  return { action: 'change', kind, name, document, stored, differences: shown([...differences, ...rewritten], document) }
}

/** The fields of a document as they are compared and shown: without secrets and long contents. */
const comparable = (kind: Kind, fields: ConfigFields): ConfigFields => withoutSecrets(kind, kind.compared?.(fields) ?? fields)

const withoutSecrets = (kind: Kind, fields: ConfigFields): ConfigFields =>
  kind.isSecret ? (mapTexts(fields, (text, path) => (kind.isSecret?.(path) ? SECRET : text), []) as ConfigFields) : fields

/** The secrets of a document, which are written again on request, because the service never returns them. */
function secretsOf(kind: Kind, fields: ConfigFields): Difference[] {
  const found: Difference[] = []
  mapTexts(
    fields,
    (text, path) => {
      if (kind.isSecret?.(path)) found.push({ path, before: SECRET, after: SECRET })
      return text
    },
    [],
  )
  return found
}

/** Shows texts from the environment as they stand in the file, and not what the service has in their place. */
function shown(differences: readonly Difference[], { filled }: PreparedDocument): Difference[] {
  return differences.map(({ path, before, after }) => {
    const written = (text: string, at: readonly (string | number)[]) =>
      filled.written.get(pathKey([...path, ...at])) ?? hideValues(text, filled.used)
    const isFromEnvironment = filled.written.has(pathKey(path))
    return {
      path,
      before: isFromEnvironment && typeof before === 'string' ? SECRET : mapTexts(before, (text) => hideValues(text, filled.used), []),
      after: mapTexts(after, (text, at) => (text === SECRET ? text : written(text, at)), []),
    }
  })
}

function orderChange(kind: Kind, documents: readonly PreparedDocument[], objects: readonly NamedObject[]): Change[] {
  if (!kind.reorder) return []
  const names = documents.map(({ name }) => name)
  const differences = orderDifferences(
    objects.map(({ name }) => name),
    names,
  )
  return differences.length === 0 ? [] : [{ action: 'order', kind, name: '(order)', names, differences }]
}

function deletionsOf(kind: Kind, documents: readonly PreparedDocument[], objects: readonly NamedObject[]): Change[] {
  const named = new Set(documents.map(({ name }) => name))
  return objects
    .filter(({ name, stored }) => !named.has(name) && !stored.isFixed)
    .map(({ name, stored }) => ({ action: 'delete', kind, name, stored, differences: [] }))
}

/** References that name nothing, several objects, or an object that is deleted. */
async function brokenReferences(
  prepared: readonly PreparedDocument[],
  inventory: Inventory,
  deletions: readonly Change[],
): Promise<string[]> {
  const written = new Set(prepared.flatMap(referredTo))
  const deleted = new Set(deletions.flatMap(referredTo))
  const problems: string[] = []
  for (const { kind, name, document, references } of prepared) {
    for (const reference of references) {
      const at = `${placeOf(document, reference.path)}: ${kind.name} ${name} names the ${reference.kind} ${reference.name}`
      const key = `${reference.kind}\0${reference.name}`
      if (written.has(key)) continue
      const names = await inventory.names(reference.kind)
      const ids = names.idsOf(reference.name)
      if (deleted.has(key)) problems.push(`${at}, which would be deleted`)
      else if (ids.length > 1) problems.push(`${at}, which several objects of the service have as their name; write the id instead`)
      else if (ids.length === 0 && !isUuid(reference.name))
        problems.push(`${at}, which neither the files nor the service have${names.unreadable ? ` (${names.unreadable})` : ''}`)
    }
  }
  return problems
}

/** The key of an object as a reference. */
export const referredTo = ({ kind, name }: { kind: Kind; name: string }): string[] =>
  kind.referredAs ? [`${kind.referredAs.kind}\0${kind.referredAs.prefix}${name}`] : []

/** Finds the id of a reference: of an object of the service, or of one that was just created. */
export async function resolveReferences(
  document: PreparedDocument,
  references: References,
  inventory: Inventory,
  created: ReadonlyMap<string, string>,
): Promise<ConfigFields> {
  const kinds = new Set<ReferenceKind>(document.references.map(({ kind }) => kind))
  const names = new Map(await Promise.all([...kinds].map(async (kind) => [kind, await inventory.names(kind)] as const)))
  return references.replaced(document.fields, ({ kind, name }) => {
    const id = created.get(`${kind}\0${name}`) ?? names.get(kind)?.idsOf(name)[0] ?? (isUuid(name) ? name : undefined)
    if (id === undefined) throw new Error(`there is no ${kind} ${name}`)
    return id
  })
}
