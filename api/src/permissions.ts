/** The permissions of the service, in the groups that `GET /permissions` shows, and what the system roles hold (API reference 1.4). */

type Grants = 'read' | 'read-write' | 'all' | 'none'
type Group = {
  group_name: string
  group_display_name: string
  permissions: readonly string[]
  sensitive: 'no' | 'yes' | 'write'
  standard: Grants
  readOnly: Grants
  searchApi: Grants
  ingestionApi: Grants
}

const rwd = <const Area extends string>(area: Area) => [`${area}_read`, `${area}_write`, `${area}_delete`] as const
const none = { standard: 'none', readOnly: 'none', searchApi: 'none', ingestionApi: 'none' } as const
const open = { ...none, standard: 'all', readOnly: 'read', searchApi: 'read' } as const

export const permissionGroups = [
  {
    group_name: 'Ingestion',
    group_display_name: 'Ingestion',
    permissions: ['events_write'],
    sensitive: 'no',
    ...none,
    ingestionApi: 'all',
  },
  { group_name: 'Search', group_display_name: 'Search', permissions: ['search_read'], sensitive: 'no', ...open },
  { group_name: 'Log', group_display_name: 'Logs and datasets', permissions: rwd('logs'), sensitive: 'no', ...open },
  { group_name: 'Parser', group_display_name: 'Parsers', permissions: rwd('parsers'), sensitive: 'no', ...open },
  {
    group_name: 'IngestRule',
    group_display_name: 'Ingest rules',
    permissions: rwd('ingest_rules'),
    sensitive: 'write',
    ...none,
    standard: 'read',
    readOnly: 'read',
  },
  {
    group_name: 'Source',
    group_display_name: 'Sources',
    permissions: rwd('sources'),
    sensitive: 'yes',
    ...none,
  },
  { group_name: 'SavedSearch', group_display_name: 'Saved searches', permissions: rwd('saved_searches'), sensitive: 'no', ...open },
  { group_name: 'Export', group_display_name: 'Exports', permissions: rwd('exports'), sensitive: 'no', ...open, searchApi: 'read-write' },
  {
    group_name: 'Usage',
    group_display_name: 'Usage',
    permissions: ['usage_read'],
    sensitive: 'no',
    ...none,
    standard: 'read',
    readOnly: 'read',
    searchApi: 'read',
  },
  { group_name: 'Tag', group_display_name: 'Tags', permissions: rwd('tag'), sensitive: 'no', ...open },
  { group_name: 'Dashboard', group_display_name: 'Dashboards and widgets', permissions: rwd('dashboards'), sensitive: 'no', ...open },
  { group_name: 'Monitor', group_display_name: 'Monitors and downtimes', permissions: rwd('monitors'), sensitive: 'no', ...open },
  {
    group_name: 'Integration',
    group_display_name: 'Integrations',
    permissions: rwd('integrations'),
    sensitive: 'no',
    ...open,
    searchApi: 'none',
  },
  {
    group_name: 'Ai',
    group_display_name: 'Assistants',
    permissions: ['ai_use'],
    sensitive: 'no',
    ...none,
    standard: 'all',
    readOnly: 'all',
  },
  { group_name: 'ApiKey', group_display_name: 'API keys', permissions: rwd('api_keys'), sensitive: 'yes', ...none },
  { group_name: 'User', group_display_name: 'Users', permissions: rwd('users'), sensitive: 'yes', ...none },
  { group_name: 'Group', group_display_name: 'Groups', permissions: rwd('groups'), sensitive: 'yes', ...none },
  { group_name: 'Access', group_display_name: 'Organization access', permissions: rwd('access'), sensitive: 'yes', ...none },
  {
    group_name: 'Provisioning',
    group_display_name: 'Provisioning',
    permissions: ['provisioning_write'],
    sensitive: 'yes',
    ...none,
  },
  { group_name: 'Role', group_display_name: 'Roles', permissions: rwd('roles'), sensitive: 'yes', ...none },
  { group_name: 'Policy', group_display_name: 'Policies', permissions: rwd('policies'), sensitive: 'yes', ...none },
  {
    group_name: 'Limit',
    group_display_name: 'Limits',
    permissions: rwd('limits'),
    sensitive: 'write',
    ...none,
    standard: 'read',
    readOnly: 'read',
    searchApi: 'read',
  },
  { group_name: 'EncryptionKey', group_display_name: 'Encryption keys', permissions: rwd('encryption_keys'), sensitive: 'yes', ...none },
  { group_name: 'Forward', group_display_name: 'Forwarding', permissions: rwd('forward'), sensitive: 'yes', ...none },
  {
    group_name: 'Retention',
    group_display_name: 'Retention',
    permissions: rwd('retention'),
    sensitive: 'write',
    ...none,
    standard: 'read',
    readOnly: 'read',
    searchApi: 'read',
  },
  {
    group_name: 'Customer',
    group_display_name: 'Customer and organization record',
    permissions: ['customer_read', 'customer_write'],
    sensitive: 'yes',
    ...none,
  },
  {
    group_name: 'Audit',
    group_display_name: 'Audit trail and own figures',
    permissions: ['audit_read', 'metrics_read'],
    sensitive: 'yes',
    ...none,
  },
  {
    group_name: 'ConfigAssistant',
    group_display_name: 'Configuration assistant',
    permissions: ['config_assistant_use'],
    sensitive: 'no',
    ...none,
    standard: 'all',
  },
] as const satisfies readonly Group[]

export type Permission = (typeof permissionGroups)[number]['permissions'][number]
export type PermissionType = 'read' | 'write' | 'delete'

/** Derives the kind from the name. The two `_use` permissions let the caller run something and count as write. */
export const permissionType = (name: string): PermissionType =>
  name.endsWith('_read') ? 'read' : name.endsWith('_delete') ? 'delete' : 'write'

export const allPermissions: readonly Permission[] = permissionGroups.flatMap((group): readonly Permission[] => group.permissions)

const granted = (grants: Grants, name: string): boolean => {
  if (grants === 'none') return false
  if (grants === 'all') return true
  const type = permissionType(name)
  return type === 'read' || (grants === 'read-write' && type === 'write')
}

const held = (by: 'standard' | 'readOnly' | 'searchApi' | 'ingestionApi'): readonly Permission[] =>
  permissionGroups.flatMap((group: Group & { permissions: readonly string[] }) =>
    group.permissions.filter((name): name is Permission => granted(group[by], name)),
  )

export const userRoles = ['Admin', 'Standard', 'ReadOnly'] as const
export const apiRoles = ['AdminApi', 'SearchApi', 'IngestionApi', 'ProvisioningApi'] as const
export type SystemRole = (typeof userRoles)[number] | (typeof apiRoles)[number]

/** The permissions of the roles that every organization has. They cannot be changed. */
export const systemRoles: Readonly<
  Record<SystemRole, { role_type: 'USER' | 'API'; display_name: string; permissions: readonly Permission[] }>
> = {
  Admin: { role_type: 'USER', display_name: 'Administrator', permissions: allPermissions },
  Standard: { role_type: 'USER', display_name: 'Standard', permissions: held('standard') },
  ReadOnly: { role_type: 'USER', display_name: 'Read only', permissions: held('readOnly') },
  AdminApi: { role_type: 'API', display_name: 'Administration by API', permissions: allPermissions },
  SearchApi: { role_type: 'API', display_name: 'Search by API', permissions: held('searchApi') },
  IngestionApi: { role_type: 'API', display_name: 'Ingestion by API', permissions: held('ingestionApi') },
  ProvisioningApi: { role_type: 'API', display_name: 'Provisioning by SCIM', permissions: ['provisioning_write'] },
}

/** Gives the stored form of a role: `Administrator` and `Admin` are the same role. */
export const roleName = (role: string): string => (role === 'Administrator' ? 'Admin' : role)
/** The role name in user records, where the specification writes `Administrator`. */
export const shownRole = (role: string): string => (role === 'Admin' ? 'Administrator' : role)

/** True for a permission in a sensitive area. */
export function isSensitive(name: string): boolean {
  const group = permissionGroups.find((candidate: Group) => candidate.permissions.includes(name))
  if (!group || group.sensitive === 'no') return false
  return group.sensitive === 'yes' || permissionType(name) !== 'read'
}
