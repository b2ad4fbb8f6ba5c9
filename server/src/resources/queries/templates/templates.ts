import { isDeepStrictEqual } from 'node:util'
import type { Metadata, SortedPageQuery, Template, TemplateArguments, TemplateParameters, TemplateReference } from '@dendro/api'
import type { z } from 'zod'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { type DatasetReference, type DatasetVisibility, visibilityOfDefinitions } from '../../data/datasets/datasets.ts'
import { pageOfReplies, searchedText } from '../../list-pages.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, type RecordPath, removeRecord } from '../../records.ts'
import { type Binding, bindArguments, checkPlaceholders, checkReference, fillIn, literalsOf } from './binding.ts'
import { deleteTemplate, insertTemplate, lockTemplate, selectTemplates, type TemplateRow, updateTemplateRow } from './rows.ts'

export { fillIn } from './binding.ts'

type Parametrised = { name: string; description?: string | undefined; parameters: TemplateParameters }

/** The templates of one kind; `kind` is also their name in the audit trail. */
export type Library<Definition extends Parametrised> = {
  readonly kind: string
  /** The fields that may hold placeholders. */
  readonly parts: readonly (keyof Definition & string)[]
  /** Rejects templates that nothing could be created from, beyond the contract's checks; `id` is that of the template being replaced. */
  check?(world: World, actor: Actor, draft: Definition, id?: string): Promise<void>
  /** The datasets that a template refers to. */
  references?(definition: Definition): readonly DatasetReference[]
  /** The templates that a template is composed of. */
  uses?(definition: Definition): readonly UsedTemplates[]
}

/** A template of any library, without its definition type. */
type UsedTemplates = { readonly library: Library<never>; readonly ids: readonly string[] }

export const usesOf = <D extends Parametrised>(
  library: Library<D>,
  references: readonly Pick<TemplateReference, 'id'>[],
): UsedTemplates => ({
  library: library as unknown as Library<never>,
  ids: references.map(({ id }) => id),
})

const nounOf = ({ kind }: Library<never>): string => kind.replaceAll('_', ' ')

const listRows = <D extends Parametrised>(world: MetaWorld, actor: Actor, { kind }: Library<D>): Promise<readonly TemplateRow<D>[]> =>
  world.meta.cached(actor.orgId, `templates ${kind}`, () => selectTemplates<D>(world.meta, actor.orgId, kind))

/** The templates that refer to no dataset hidden from the caller, directly or through other templates. */
async function seenTemplates<D extends Parametrised>(
  world: MetaWorld,
  actor: Actor,
  library: Library<D>,
): Promise<readonly TemplateRow<D>[]> {
  const rows = await listRows(world, actor, library)
  const visibility = await visibilityOfDefinitions(world, actor)
  if (!visibility.limited) return rows
  const hidden = await hiddenIn(world, actor, library as unknown as Library<never>, visibility)
  return rows.filter(({ id }) => !hidden.has(id))
}

/** The ids of templates hidden from the caller; `known` caches the libraries checked so far. */
async function hiddenIn(
  world: MetaWorld,
  actor: Actor,
  library: Library<never>,
  visibility: DatasetVisibility,
  known = new Map<string, Set<string>>(),
): Promise<ReadonlySet<string>> {
  const found = known.get(library.kind)
  if (found) return found
  const hidden = new Set<string>()
  known.set(library.kind, hidden)
  const rows = await listRows(world, actor, library)
  const uses = new Map<string, readonly UsedTemplates[]>()
  for (const { id, definition, modified_by } of rows) {
    if (!(await visibility.sees(library.references?.(definition) ?? [], modified_by))) hidden.add(id)
    uses.set(id, library.uses?.(definition) ?? [])
  }
  for (const { library: other } of [...uses.values()].flat()) await hiddenIn(world, actor, other, visibility, known)
  // Templates of one library may use each other: repeat until no more hidden ones are found.
  for (let before = -1; before !== hidden.size; ) {
    before = hidden.size
    for (const [id, parts] of uses) {
      if (parts.some(({ library: { kind }, ids }) => ids.some((part) => known.get(kind)?.has(part)))) hidden.add(id)
    }
  }
  return hidden
}

export async function listTemplates<D extends Parametrised>(world: MetaWorld, actor: Actor, library: Library<D>, query: SortedPageQuery) {
  const seen = (await seenTemplates(world, actor, library)).map((row) => shownTemplate(row))
  const { rows, ...rest } = pageOfReplies(seen, query, ({ name, description }) => searchedText([name, description]))
  return { templates: rows, ...rest }
}

async function findTemplate<D extends Parametrised>(
  world: MetaWorld,
  actor: Actor,
  library: Library<D>,
  id: string,
): Promise<TemplateRow<D>> {
  const row = (await seenTemplates(world, actor, library)).find((candidate) => candidate.id === id)
  if (!row) throw notFound(nounOf(library), id)
  return row
}

async function createTemplate<D extends Parametrised>(world: World, actor: Actor, library: Library<D>, draft: D) {
  await checkDraft(world, actor, library, draft)
  const nowMs = world.clock.nowMs()
  const row: TemplateRow<D> = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    kind: library.kind,
    definition: draft,
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, templateRecords(library), row)
}

/** Replaces a template; records created from it do not change. */
async function updateTemplate<D extends Parametrised>(
  world: World,
  actor: Actor,
  library: Library<D>,
  record: TemplateRow<D>,
  decide: (before: D) => D,
) {
  await checkDraft(world, actor, library, decide(record.definition), record.id)
  return changeRecord(world, actor, templateRecords(library), {
    id: record.id,
    change: ({ definition }) => ({ definition: decide(definition) }),
  })
}

const removeTemplate = <D extends Parametrised>(
  world: World,
  actor: Actor,
  library: Library<D>,
  record: TemplateRow<D>,
): Promise<undefined> => removeRecord(world, actor, templateRecords(library), record)

const templateRecords = <D extends Parametrised>(library: Library<D>): RecordKind<TemplateRow<D>, ReturnType<typeof shownTemplate<D>>> => ({
  noun: nounOf(library),
  entity: library.kind,
  lock: (tx, orgId, id) => lockTemplate<D>(tx, orgId, library.kind, id),
  insert: insertTemplate,
  update: updateTemplateRow,
  remove: (tx, orgId, id) => deleteTemplate(tx, orgId, library.kind, id),
  shown: shownTemplate,
})

/** The endpoints of the templates of one kind; `draftOf` completes a body, given the template that it replaces. */
export const templateHandlers = <D extends Parametrised, Body = D>(
  world: World,
  library: Library<D>,
  draftOf: (body: Body, before?: D) => D,
) => {
  const find = ({ actor, params }: RecordPath<'templateId'>) => findTemplate(world, actor, library, params.templateId)
  type Call = { readonly actor: Actor; readonly record: TemplateRow<D> }
  return {
    list: ({ actor, query }: { actor: Actor; query: SortedPageQuery }) => listTemplates(world, actor, library, query),
    create: ({ actor, body }: { actor: Actor; body: Body }) => createTemplate(world, actor, library, draftOf(body)),
    get: { find, run: async ({ record }: Call) => shownTemplate(record) },
    update: {
      find,
      run: ({ actor, record, body }: Call & { body: Body }) =>
        updateTemplate(world, actor, library, record, (before) => draftOf(body, before)),
    },
    remove: { find, run: ({ actor, record }: Call) => removeTemplate(world, actor, library, record) },
  }
}

async function checkDraft<D extends Parametrised>(world: World, actor: Actor, library: Library<D>, draft: D, id?: string): Promise<void> {
  checkPlaceholders(Object.fromEntries(library.parts.map((part) => [part, draft[part]])), draft.parameters)
  await library.check?.(world, actor, draft, id)
}

const shownTemplate = <D extends object>({ id, definition, ...row }: TemplateRow<D>): D & { id: string; metadata: Metadata } => ({
  id,
  ...definition,
  metadata: metadataOf(row),
})

/** A template with arguments, their path in the request, and the binding of an enclosing template. */
export type TemplateUse = { id: string; arguments?: TemplateArguments | undefined; field: string; enclosing?: Binding }

/** Finds a template and binds its parameters; `template` is stored with the record created from it. */
export async function bindTemplate<D extends Parametrised>(
  world: MetaWorld,
  actor: Actor,
  library: Library<D>,
  { id, arguments: args, field, enclosing }: TemplateUse,
): Promise<{ definition: D; binding: Binding; template: Template }> {
  const row = (await seenTemplates(world, actor, library)).find((candidate) => candidate.id === id)
  if (!row) throw badField(`${field}.id`, `names no ${nounOf(library)}: ${id}`, 'UNKNOWN_TEMPLATE')
  const given = { field: `${field}.arguments`, ...(enclosing ? { enclosing } : {}) }
  const binding = bindArguments(row.definition.parameters, args, given)
  return { definition: row.definition, binding, template: { id, arguments: literalsOf(binding) } }
}

/** Fills a template and applies `overrides`; the result must match `schema`. */
export async function fillTemplate<D extends Parametrised, S extends z.ZodType>(
  world: MetaWorld,
  actor: Actor,
  library: Library<D>,
  { use, overrides = {}, schema }: { use: TemplateUse; overrides?: object; schema: S },
): Promise<{ draft: z.output<S>; template: Template }> {
  const { definition, binding, template } = await bindTemplate(world, actor, library, use)
  const parts = Object.fromEntries(library.parts.map((part) => [part, fillIn(definition[part], binding, part)]))
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  return { draft: check(schema, { ...parts, ...given }, 'template'), template }
}

/** True if a replaced record names the template that it already has. */
export const isSameTemplate = (sent: Template, kept: Template | null): boolean =>
  kept !== null && isDeepStrictEqual({ id: sent.id, arguments: sent.arguments ?? {} }, { id: kept.id, arguments: kept.arguments ?? {} })

/** `fieldOf` names the place of a reference in the request. */
type References = { references: readonly TemplateReference[]; outer: TemplateParameters; fieldOf: (index: number) => string }

/** Rejects references to missing templates, or with arguments that can never be bound. */
export async function checkReferences<D extends Parametrised>(
  world: MetaWorld,
  actor: Actor,
  library: Library<D>,
  { references, outer, fieldOf }: References,
): Promise<void> {
  const known = new Map((await seenTemplates(world, actor, library)).map((row) => [row.id, row.definition.parameters]))
  for (const [index, { id, arguments: given }] of references.entries()) {
    const parameters = known.get(id)
    if (!parameters) throw badField(`${fieldOf(index)}.id`, `names no ${nounOf(library)}: ${id}`, 'UNKNOWN_TEMPLATE')
    checkReference(given, { parameters, outer, field: `${fieldOf(index)}.arguments` })
  }
}
