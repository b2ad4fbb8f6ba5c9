import type { Permission } from '@dendro/api'
import type { ReactNode } from 'react'
import { useMe } from './me.ts'

/** Checks permissions of the caller. Nothing is permitted until they have loaded, and everything if they cannot be loaded: the service checks again. */
export function useMay(): (permission: Permission) => boolean {
  // A form that appears because they cannot be loaded loads them again; it must not disappear meanwhile.
  const { data, errorUpdateCount } = useMe()
  return (permission) => (data === undefined ? errorUpdateCount > 0 : data.permissions.includes(permission))
}

/** Checks whether the caller is known to have no such permission, for what must not change while permissions load. */
export function useLacks(): (permission: Permission) => boolean {
  const { data } = useMe()
  return (permission) => data !== undefined && !data.permissions.includes(permission)
}

type PermittedProps = { to: Permission | readonly Permission[]; otherwise?: ReactNode; children: ReactNode }

/** Shows what the caller has the permissions for, all of them where there are several. */
export function Permitted({ to, otherwise = null, children }: PermittedProps) {
  const may = useMay()
  return (typeof to === 'string' ? [to] : to).every(may) ? children : otherwise
}
