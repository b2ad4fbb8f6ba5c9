import type { Permission, TaggedType, Tags } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { type Sql, sql } from '../../../meta/sql.ts'
import type { World } from '../../../world.ts'
import { seenDashboards } from '../../boards/dashboards/dashboards.ts'
import { seenWidgets } from '../../boards/widgets/widgets.ts'
import { visibleDatasets } from '../../data/datasets/datasets.ts'
import { seenSavedSearches } from '../../queries/saved-searches/saved-searches.ts'
import { monitorReads, visibleMonitors } from '../../watching/monitors/monitors.ts'

export type TaggedRow = { id: string; tags: Tags }

/** A Taggable is a kind of record that carries tags: in the column `tags` of its table, beside `modified_at` and `modified_by`. */
export type Taggable = {
  table: string
  /** alive tells the records that are there from those that are gone. */
  alive: Sql
  /** audited is the entity type under which the audit trail has the other changes of such a record. */
  audited: string
  /** read is what the caller must hold to find the tags of such records. */
  read: Permission
  /** write is what changing a tag needs besides the permission for tags: records of sensitive areas have one. */
  write?: Permission
  /** visible is every record of the kind that the caller may see, where that is not all of them. */
  visible?(world: World, actor: Actor): Promise<readonly TaggedRow[]>
}

/** taggables are the kinds of records that can be tagged; a kind that is not here has no records yet. */
export const taggables: Partial<Record<TaggedType, Taggable>> = {
  log: {
    table: 'datasets',
    alive: sql`deleted_at is null`,
    audited: 'dataset',
    read: 'logs_read',
    visible: visibleDatasets,
  },
  api_key: {
    table: 'api_keys',
    alive: sql`true`,
    audited: 'api_key',
    read: 'api_keys_read',
    write: 'api_keys_write',
  },
  user: {
    table: 'users',
    alive: sql`status <> 'REMOVED'`,
    audited: 'user',
    read: 'users_read',
    write: 'users_write',
  },
  dashboard: {
    table: 'dashboards',
    alive: sql`true`,
    audited: 'dashboard',
    read: 'dashboards_read',
    visible: seenDashboards,
  },
  widget: {
    table: 'widgets',
    alive: sql`true`,
    audited: 'widget',
    read: 'dashboards_read',
    visible: seenWidgets,
  },
  saved_search: {
    table: 'saved_searches',
    alive: sql`true`,
    audited: 'saved_search',
    read: 'saved_searches_read',
    visible: seenSavedSearches,
  },
  monitor: {
    table: 'monitors',
    alive: sql`true`,
    audited: 'monitor',
    read: 'monitors_read',
    visible: (world, actor) => visibleMonitors(world, actor, () => monitorReads(world, actor.orgId)),
  },
}
