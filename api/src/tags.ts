import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { text, textParameter, uuid } from './values.ts'

const TaggedType = z.enum(['log', 'dashboard', 'user', 'api_key', 'widget', 'saved_search', 'monitor'])
export type TaggedType = z.output<typeof TaggedType>

const TagEntity = z.object({ id: uuid, type: TaggedType })

export const Tag = z
  .object({ name: text(1, 255), value: text(1, 255), entity: TagEntity })
  .meta({ id: 'Tag', description: 'One key/value pair on one record; names are unique per record.' })
export type Tag = z.output<typeof Tag>

const TagUsage = z.object({
  name: z.string(),
  values: z.array(
    z.object({
      value: z.string(),
      types: z.array(z.object({ type: TaggedType, value: z.string().optional(), entities: z.array(z.object({ id: uuid })) })),
    }),
  ),
})
export type TagUsage = z.output<typeof TagUsage>

export const tags = {
  search: endpoint({
    method: 'GET',
    path: '/tags/search',
    aliases: ['/tags'],
    permission: 'tag_read',
    tier: 'X',
    summary: 'List tags with their records, sorted by name and value; at most 100 values per name',
    query: z.object({
      name: textParameter(255),
      value: textParameter(255),
      entity_type: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), TaggedType.optional()),
    }),
    reply: z.object({ tags: z.array(TagUsage) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/tags',
    permission: 'tag_write',
    tier: 'X',
    summary: 'Add a tag to a record; an existing name is a conflict',
    body: Tag,
    status: 201,
    reply: Tag,
    fails: [404, 409],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/tags',
    permission: 'tag_write',
    tier: 'X',
    summary: 'Change the value of a tag',
    body: Tag,
    reply: Tag,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/tags',
    permission: 'tag_delete',
    tier: 'X',
    summary: 'Remove a tag from a record',
    body: z.object({ name: text(1, 255), entity: TagEntity }),
    fails: [404],
  }),
}
