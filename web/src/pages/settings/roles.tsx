import type { Role } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { quantity } from '../../parts/chart/numbers.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Input, Select } from '../../ui/field.tsx'
import { ROLES, useRoles } from './role-picker.tsx'

/** Roles lists the built-in roles and manages custom ones. */
export function Roles() {
  const client = useClient()
  return (
    <RecordPanel
      rights={{ write: 'roles_write', delete: 'roles_delete' }}
      title="Roles"
      noun="role"
      list={useRoles()}
      itemsOf={({ roles }) => roles}
      stale={ROLES}
      columns={['Name', 'Role type', 'Description', 'Permissions']}
      empty="No roles yet."
      idOf={({ role_id }) => role_id}
      nameOf={({ display_name }) => display_name}
      cellsOf={(role) => [
        role.display_name,
        role.role_type === 'USER' ? 'users' : 'API keys',
        <span key="description" className={role.description === undefined ? 'text-soft' : ''}>
          {role.description ?? (role.is_system_role ? 'built in' : '')}
        </span>,
        <Permissions key="permissions" role={role} />,
      ]}
      form={(role, onEnd) => <RoleForm role={role} onEnd={onEnd} />}
      fixedOf={({ is_system_role }) => (is_system_role ? '' : undefined)}
      deletionOf={({ display_name }) => `Delete “${display_name}”? A role that a user, group or key has cannot be deleted.`}
      onDelete={({ role_id }) => client.roles.remove({ params: { roleId: role_id } })}
    />
  )
}

function Permissions({ role }: { role: Role }) {
  return (
    <details>
      <summary className="cursor-pointer">{quantity(role.permissions.length, 'permission')}</summary>
      <p className="max-w-md font-mono text-soft text-xs">{role.permissions.map(({ name }) => name).join(' ')}</p>
    </details>
  )
}

const types = [
  ['USER', 'users'],
  ['API', 'API keys'],
] as const

function RoleForm({ role, onEnd }: { role: Role | undefined; onEnd(): void }) {
  const client = useClient()
  const all = useQuery({ queryKey: ['permissions'], queryFn: ({ signal }) => client.permissions.list({ signal }), staleTime: 600_000 })
  const [role_type, setType] = useState<'USER' | 'API'>(role?.role_type ?? 'USER')
  const granted = new Set(role?.permissions.map(({ name }) => name))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(granted)
  const toggle = (name: string) =>
    setChosen((before) => {
      const next = new Set(before)
      if (!next.delete(name)) next.add(name)
      return next
    })
  return (
    <Form
      action={role ? 'Save' : 'Create role'}
      label={role ? `Edit ${role.display_name}` : 'New role'}
      layout="column"
      stale={ROLES}
      conflict="display_name"
      isReady={chosen.size > 0}
      isDirty={role && chosen.symmetricDifference(granted).size > 0}
      onSend={async (text) => {
        const body = { role_type, display_name: text('name'), description: text('description'), permissions: [...chosen] }
        if (role) await client.roles.update({ params: { roleId: role.role_id }, body })
        else await client.roles.create({ body })
      }}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <div className="flex flex-wrap gap-2">
        <FormField name="Name" of="display_name">
          <Input name="name" required maxLength={255} defaultValue={role?.display_name} />
        </FormField>
        <FormField name="Role type" of="role_type">
          <Select value={role_type} options={types} onPick={setType} disabled={role !== undefined} />
        </FormField>
        <FormField name="Description" of="description" className="min-w-64 flex-1">
          <Input name="description" maxLength={4000} defaultValue={role?.description} />
        </FormField>
      </div>
      <Loaded of={all}>
        {({ resources }) => (
          <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3 wide:grid-cols-6">
            {resources.map((area) => (
              <fieldset key={area.group_name} className="rounded border border-line p-2">
                <legend className="px-1 font-medium">{area.group_display_name}</legend>
                {area.permissions.map(({ name, display_name, description }) => (
                  <label key={name} className="flex gap-2 py-0.5" title={description}>
                    <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} /> {display_name}
                  </label>
                ))}
              </fieldset>
            ))}
          </div>
        )}
      </Loaded>
    </Form>
  )
}
