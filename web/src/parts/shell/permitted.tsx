import type { Permission } from '@dendro/api'
import type { ReactNode } from 'react'
import { useMe } from './me.ts'

/** Checks permissions of the caller. Until they have loaded, everything is permitted: most callers have what they use. */
export function useMay(): (permission: Permission) => boolean {
  const { data } = useMe()
  return (permission) => data === undefined || data.permissions.includes(permission)
}

type PermittedProps = { to: Permission | readonly Permission[]; otherwise?: ReactNode; children: ReactNode }

/** Shows what the caller has the permissions for, all of them where there are several. */
export function Permitted({ to, otherwise = null, children }: PermittedProps) {
  const may = useMay()
  return (typeof to === 'string' ? [to] : to).every(may) ? children : otherwise
}
