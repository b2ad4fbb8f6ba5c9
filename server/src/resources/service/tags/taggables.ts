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

/** A kind of record with tags: in the column `tags` of its table, next to `modified_at` and `modified_by`. */
export type Taggable = {
  table: string
  /** A condition for records that are not deleted. */
  alive: Sql
  /** The entity type of such a record in the audit trail. */
  audited: string
  /** The permission to find the tags of such records. */
  read: Permission
  /** A permission for changing tags in addition to that for tags, for records of sensitive areas. */
  write?: Permission
  /** The records that the caller may see, if not all. */
  visible?(world: World, actor: Actor): Promise<readonly TaggedRow[]>
}

/** The kinds of records with tags; a kind that is missing here has no records. */
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
