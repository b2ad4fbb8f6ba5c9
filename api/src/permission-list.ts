import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const PermissionEntry = z.object({
  name: z.string(),
  display_name: z.string(),
  description: z.string(),
  type: z.enum(['read', 'write', 'delete']),
})
export type PermissionEntry = z.output<typeof PermissionEntry>

const PermissionGroup = z
  .object({ group_name: z.string(), group_display_name: z.string(), permissions: z.array(PermissionEntry) })
  .meta({ id: 'PermissionGroup', description: 'The permissions of one area of the service.' })

export const permissionList = {
  list: endpoint({
    method: 'GET',
    path: '/permissions',
    permission: 'logs_read',
    tier: 'X',
    summary: 'List all permissions by area',
    reply: z.object({ resources: z.array(PermissionGroup) }),
  }),
}
