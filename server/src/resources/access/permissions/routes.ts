import { contract, type Permission, permissionEntry, permissionGroups } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'

export const permissionRoutes = (): Routes =>
  routes('permissions', contract.permissions, {
    list: async () => ({ resources }),
  })

const resources = permissionGroups.map(({ group_name, group_display_name, permissions }) => ({
  group_name,
  group_display_name,
  permissions: (permissions as readonly Permission[]).map(permissionEntry),
}))
