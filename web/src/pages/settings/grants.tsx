import type { UserGroup } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Form, FormField } from '../../parts/records/form.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { useMe } from '../../parts/shell/me.ts'
import { isSameSet, RolePicker } from './role-picker.tsx'

const GRANTS = ['grants']

/** useGrants loads the roles granted within this organization, besides those assigned to users directly. */
export function useGrants() {
  const client = useClient()
  const list = useQuery({ queryKey: GRANTS, queryFn: ({ signal }) => client.access.listOwn({ signal }), staleTime: 30_000 })
  const members = list.data?.items.flatMap((item) => item.members) ?? []
  const rolesOf = (id: string): readonly string[] => members.find((one) => one.id === id && one.status === 'active')?.roles ?? []
  return { rolesOf, error: list.error, refetch: list.refetch }
}

type GroupRolesProps = { group: UserGroup; roles: readonly string[]; onEnd(): void }

/** GroupRoles grants roles to the members of a group. */
export function GroupRoles({ group, roles, onEnd }: GroupRolesProps) {
  const client = useClient()
  const me = useMe()
  const [picked, setPicked] = useState<string[]>([...roles])
  const params = { orgId: me.data?.org_id ?? '', entityType: 'group' as const, entityId: group.id }
  return (
    <Form
      needs="access_write"
      action="Save"
      label={`Roles of ${group.name}`}
      stale={GRANTS}
      isReady={me.data !== undefined}
      isDirty={!isSameSet(picked, roles)}
      onSend={async () => {
        if (picked.length === 0) await client.access.revoke({ params })
        else await client.access.grant({ params, body: { roles: picked, status: 'active' } })
      }}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <FormField name="Roles of all members" of="roles">
        <RolePicker type="USER" picked={picked} onPick={setPicked} />
      </FormField>
    </Form>
  )
}
