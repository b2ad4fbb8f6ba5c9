import type { BodyOf, contract, QueryOf, Tag, TaggedType, Tags, TagUsage } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { badField, conflict, Failure, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { modifiedBy } from '../../records.ts'
import { lockTags, selectTagged, updateTags } from './rows.ts'
import { type Taggable, type TaggedRow, taggables } from './taggables.ts'

type TagQuery = QueryOf<typeof contract.tags.search>
type RemovedTag = BodyOf<typeof contract.tags.remove>

const TAGS_MAX = 100
const VALUES_MAX = 100

export async function createTag(world: World, actor: Actor, tag: Tag): Promise<Tag> {
  return changeTags(world, actor, tag.entity, (tags) => {
    if (Object.hasOwn(tags, tag.name)) throw conflict(`the ${nounOf(tag.entity.type)} already has a tag ${tag.name}; PUT changes its value`)
    if (Object.keys(tags).length >= TAGS_MAX) throw badField('name', `would exceed the ${TAGS_MAX} tags that a record can have`)
    return { tags: { ...tags, [tag.name]: tag.value }, answer: tag }
  })
}

export async function updateTag(world: World, actor: Actor, tag: Tag): Promise<Tag> {
  return changeTags(world, actor, tag.entity, (tags) => {
    if (!Object.hasOwn(tags, tag.name)) throw noTag(tag)
    return { tags: { ...tags, [tag.name]: tag.value }, answer: tag }
  })
}

export async function removeTag(world: World, actor: Actor, leaving: RemovedTag): Promise<undefined> {
  return changeTags(world, actor, leaving.entity, (tags) => {
    if (!Object.hasOwn(tags, leaving.name)) throw noTag(leaving)
    const { [leaving.name]: _gone, ...rest } = tags
    return { tags: rest, answer: undefined }
  })
}

/** The tags of all records visible to the caller; kinds that the caller may not read are omitted. */
export async function searchTags(world: World, actor: Actor, query: TagQuery): Promise<TagUsage[]> {
  const found = new Map<string, Map<string, Map<TaggedType, string[]>>>()
  for (const [type, kind] of kinds()) {
    if ((query.entity_type && query.entity_type !== type) || !hasPermission(actor, kind.read)) continue
    for (const { id, tags } of await visibleRecords(world, actor, kind)) {
      for (const [name, value] of Object.entries(tags)) {
        if ((query.name && query.name !== name) || (query.value && query.value !== value)) continue
        const values = at(found, name, () => new Map<string, Map<TaggedType, string[]>>())
        const types = at(values, value, () => new Map<TaggedType, string[]>())
        at(types, type, () => []).push(id)
      }
    }
  }
  return byKey(found).map(([name, values]) => ({
    name,
    values: byKey(values)
      .slice(0, VALUES_MAX)
      .map(([value, types]) => ({
        value,
        types: [...types].map(([type, ids]) => ({ type, value, entities: ids.toSorted().map((id) => ({ id })) })),
      })),
  }))
}

/** Changes the tags of a record while it is locked; `decide` computes the new tags. */
async function changeTags<T>(
  world: World,
  actor: Actor,
  entity: Tag['entity'],
  decide: (tags: Tags) => { tags: Tags; answer: T },
): Promise<T> {
  const kind = taggables[entity.type]
  const noun = nounOf(entity.type)
  if (kind?.write && !hasPermission(actor, kind.write))
    throw forbidden(`changing a tag of this kind of record needs the permission ${kind.write} too`)
  if (!kind) throw notFound(noun, entity.id)
  if (kind.visible && !(await kind.visible(world, actor)).some((record) => record.id === entity.id)) throw notFound(noun, entity.id)
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockTags(tx, actor.orgId, kind, entity.id)
    if (!before) throw notFound(noun, entity.id)
    const { tags, answer } = decide(before.tags)
    await updateTags(tx, actor.orgId, kind, { id: entity.id, tags, ...modifiedBy(actor, world.clock.nowMs()) })
    await recordChange(world, tx, actor, {
      entity: { type: kind.audited, id: entity.id },
      before: { tags: before.tags },
      after: { tags },
    })
    return answer
  })
}

async function visibleRecords(world: World, actor: Actor, kind: Taggable): Promise<readonly TaggedRow[]> {
  if (kind.visible) return kind.visible(world, actor)
  return world.meta.cached(actor.orgId, `tags of ${kind.table}`, () => selectTagged(world.meta, actor.orgId, kind))
}

const kinds = (): readonly (readonly [TaggedType, Taggable])[] => Object.entries(taggables) as [TaggedType, Taggable][]

const nounOf = (type: TaggedType): string => type.replace('_', ' ').replace('api', 'API')

const noTag = ({ name, entity }: RemovedTag): Failure => new Failure(404, `the ${nounOf(entity.type)} has no tag ${name}`)

/** Returns the entry of a map, created if absent. */
function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

const byKey = <V>(map: ReadonlyMap<string, V>): [string, V][] => [...map].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
