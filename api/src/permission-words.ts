import type { PermissionEntry } from './permission-list.ts'
import { type Permission, permissionGroups, permissionType } from './permissions.ts'

/** Has a label and a description for each permission. */
const permissionWords: Readonly<Record<Permission, readonly [displayName: string, description: string]>> = {
  events_write: ['Send events', 'Send log events and traces through any ingestion protocol.'],
  search_read: ['Search events', 'Search and tail events, see their context, and compute top keys, patterns and time series.'],
  logs_read: ['See logs', 'See collections and datasets with their tags, views and retention.'],
  logs_write: ['Change logs', 'Create datasets, rename them and move them between collections.'],
  logs_delete: ['Delete logs', 'Delete datasets together with all events in them.'],
  parsers_read: ['See parsers', 'See how events of each dataset are parsed into keys and values.'],
  parsers_write: ['Change parsers', 'Create and change parsers and assign them to datasets.'],
  parsers_delete: ['Delete parsers', 'Delete parsers; stored events keep their parsed keys.'],
  ingest_rules_read: ['See ingest rules', 'See how events are dropped, redacted, changed and moved before they are stored.'],
  ingest_rules_write: ['Change ingest rules', 'Decide how events are dropped, redacted, changed and moved before they are stored.'],
  ingest_rules_delete: ['Delete ingest rules', 'Delete rules that drop, redact, change or move events.'],
  sources_read: ['See sources', 'See from where the service fetches events; never the credentials.'],
  sources_write: ['Change sources', 'Decide from where the service fetches events, and test whether it can.'],
  sources_delete: ['Delete sources', 'Stop fetching events and forget how far they were read.'],
  saved_searches_read: ['See saved searches', 'See and run the saved searches of the organization.'],
  saved_searches_write: ['Change saved searches', 'Save searches and change the saved ones.'],
  saved_searches_delete: ['Delete saved searches', 'Delete saved searches of the organization.'],
  exports_read: ['See exports', 'See the progress of exports and download finished ones.'],
  exports_write: ['Create exports', 'Start exports of events found by a search.'],
  exports_delete: ['Delete exports', 'Cancel running exports and delete the files of finished ones.'],
  usage_read: ['See usage', 'See how much is ingested, searched and exported, by dataset, team and user.'],
  tag_read: ['See tags', 'See tags and find records by them.'],
  tag_write: ['Change tags', 'Add and change tags on visible records.'],
  tag_delete: ['Delete tags', 'Remove tags from records.'],
  dashboards_read: ['See dashboards', 'See dashboards, widgets, metric definitions and their templates.'],
  dashboards_write: ['Change dashboards', 'Create and change dashboards, widgets, metric definitions and their templates.'],
  dashboards_delete: ['Delete dashboards', 'Delete dashboards, widgets, metric definitions and their templates.'],
  monitors_read: ['See monitors', 'See monitors with their status and history, their templates, and downtimes.'],
  monitors_write: ['Change monitors', 'Create, change and mute monitors and their templates, and plan downtimes.'],
  monitors_delete: ['Delete monitors', 'Delete monitors, their templates and downtimes.'],
  integrations_read: ['See integrations', 'See where notifications go; secret header values are never shown.'],
  integrations_write: ['Change integrations', 'Create, change and test the targets of notifications, secret header values included.'],
  integrations_delete: ['Delete integrations', 'Delete targets of notifications.'],
  ai_use: ['Use assistants', 'Use the assistants of the service, which write queries and explain events.'],
  api_keys_read: ['See API keys', 'See API keys with their roles and expiry; never the secrets.'],
  api_keys_write: ['Change API keys', "Create and rename API keys and change their roles, within the caller's own permissions."],
  api_keys_delete: ['Delete API keys', 'Delete API keys, which stop working at once.'],
  users_read: ['See users', 'See the users of the organization, their roles and when they last logged in.'],
  users_write: ['Change users', 'Invite users, change their names and roles, deactivate and reactivate them.'],
  users_delete: ['Remove users', 'Delete users permanently, with their access and memberships.'],
  groups_read: ['See groups', 'See groups and their members.'],
  groups_write: ['Change groups', 'Create and rename groups and change their members.'],
  groups_delete: ['Delete groups', 'Delete groups with the roles they were granted.'],
  access_read: ['See access', 'See the roles granted to users and groups in the organization.'],
  access_write: ['Grant access', "Grant roles to users and groups, within the caller's own permissions."],
  access_delete: ['Revoke access', 'Revoke roles that users and groups were granted.'],
  roles_read: ['See roles', 'See system roles and custom roles with their permissions.'],
  roles_write: ['Change roles', "Create and change custom roles, within the caller's own permissions."],
  roles_delete: ['Delete roles', 'Delete custom roles that are not in use.'],
  provisioning_write: ['Provision users', 'Create, change, deactivate and delete users and groups by SCIM, as a directory does.'],
  policies_read: ['See policies', 'See the rules that hide logs from roles, users and API keys.'],
  policies_write: ['Change policies', 'Create and change rules that hide logs or limit a caller to some of them.'],
  policies_delete: ['Delete policies', 'Delete such rules, which makes the logs visible again.'],
  limits_read: ['See limits', 'See the limits on ingestion and their current use.'],
  limits_write: ['Change limits', 'Set limits on ingestion for the organization or a team.'],
  limits_delete: ['Delete limits', 'Delete limits on ingestion and use.'],
  encryption_keys_read: ['See encryption keys', 'See which encryption keys are registered, and their state; never key material.'],
  encryption_keys_write: ['Change encryption keys', 'Register, rename and activate encryption keys.'],
  encryption_keys_delete: ['Delete encryption keys', 'Delete encryption keys that were never activated.'],
  forward_read: ['See forwarding', 'See which events are archived to which object storage.'],
  forward_write: ['Change forwarding', 'Decide which events are copied out of the service to object storage, and test the target.'],
  forward_delete: ['Delete forwarding', 'Stop copying events to object storage.'],
  retention_read: ['See retention', 'See how long events of each dataset are kept.'],
  retention_write: ['Change retention', 'Decide how long events are kept; older events are deleted for good.'],
  retention_delete: ['Delete retention rules', 'Remove retention rules, so that the more general one applies.'],
  customer_read: ['See the customer record', 'See the customer record and, in the management organization, all organizations.'],
  customer_write: [
    'Change the organization',
    'Rename and configure the organization, and create organizations from the management organization.',
  ],
  metrics_read: ['See metrics of the service', 'See metrics of the service itself: load, memory, queues and stores.'],
  audit_read: ['See the audit trail', 'See all changes and refused attempts with actor, time and address.'],
  config_assistant_use: ['Use the configuration assistant', 'Generate and change configurations of collectors and shippers.'],
}

/** A permission in lists and roles. */
export function permissionEntry(name: Permission): PermissionEntry {
  const [display_name, description] = permissionWords[name]
  return { name, display_name, description, type: permissionType(name) }
}

/** Returns the area of a permission. */
export function groupOfPermission(name: Permission): { group_name: string; group_display_name: string } {
  const group = permissionGroups.find(({ permissions }) => (permissions as readonly Permission[]).includes(name))
  if (!group) throw new Error(`the permission ${name} belongs to no group`)
  return { group_name: group.group_name, group_display_name: group.group_display_name }
}
