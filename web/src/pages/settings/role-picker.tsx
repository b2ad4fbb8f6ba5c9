import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'
import { Button } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Popover } from '../../ui/popover.tsx'

export const ROLES = ['roles']

export function useRoles() {
  const client = useClient()
  return useQuery({ queryKey: ROLES, queryFn: ({ signal }) => client.roles.list({ signal }), staleTime: 30_000 })
}

/** useRoleNames maps role ids to names. */
export function useRoleNames(): (id: string) => string {
  const roles = useRoles()
  const names = new Map((roles.data?.roles ?? []).map(({ role_id, display_name }) => [role_id, display_name]))
  return (id) => names.get(id === 'Administrator' ? 'Admin' : id) ?? id
}

/** isSameSet compares selections, whatever their order. */
export const isSameSet = (a: readonly string[], b: readonly string[]): boolean => new Set(a).symmetricDifference(new Set(b)).size === 0

type RolePickerProps = { type: 'USER' | 'API'; picked: readonly string[]; onPick(roles: string[]): void }

/** RolePicker selects roles for a user or a key. */
export function RolePicker({ type, picked, onPick }: RolePickerProps) {
  const roles = useRoles()
  const nameOf = useRoleNames()
  const isPicked = (id: string) => picked.some((one) => (one === 'Administrator' ? 'Admin' : one) === id)
  const toggle = (id: string) => {
    const without = picked.filter((one) => (one === 'Administrator' ? 'Admin' : one) !== id)
    onPick(isPicked(id) ? without : [...without, id])
  }
  const text = picked.length === 0 ? 'none' : roles.isPending ? 'Loading…' : picked.map(nameOf).join(', ')
  return (
    <Popover
      label="Roles"
      trigger={
        <Button aria-label={`Roles: ${text}`}>
          <span className="min-w-24 max-w-48 flex-1 truncate text-left max-sm:max-w-none">{text}</span> <Caret />
        </Button>
      }
    >
      <ul className="flex w-64 max-w-full flex-col">
        {(roles.data?.roles ?? [])
          .filter(({ role_type }) => role_type === type)
          .map(({ role_id, display_name, description }) => (
            <li key={role_id}>
              <label className="flex items-start gap-2 rounded px-1 py-0.5 hover:bg-tint">
                <input type="checkbox" className="mt-1" checked={isPicked(role_id)} onChange={() => toggle(role_id)} />
                <span>
                  {display_name}
                  {description && <span className="block text-soft text-xs">{description}</span>}
                </span>
              </label>
            </li>
          ))}
      </ul>
    </Popover>
  )
}
