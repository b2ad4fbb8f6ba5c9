import type { Tags } from '@dendro/api'
import type { World } from '../../../world.ts'
import { selectOrganization } from './rows.ts'

/** The collection of events without one, if the organization derives it from tags; undefined if no such tag is present. */
export async function partitionOf(world: Pick<World, 'meta'>, orgId: string, tags: Tags): Promise<string | undefined> {
  const names = await world.meta.cached(orgId, 'partition-tags', async () => {
    const setting = (await selectOrganization(world.meta, orgId))?.partition_tags
    return setting?.enabled ? (setting.partition_tag_list ?? []) : []
  })
  const values = names.flatMap((name) => (Object.hasOwn(tags, name) ? [tags[name]] : []))
  return values.length === 0 ? undefined : values.join('-')
}
