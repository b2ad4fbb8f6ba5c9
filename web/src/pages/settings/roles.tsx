import type { Role } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { quantity } from '../../parts/numbers.ts'
import { Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, useAction } from '../../parts/records.tsx'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { ROLES, useRoles } from './role-picker.tsx'

/** Roles lists the built-in roles and manages custom ones. */
export function Roles() {
  const list = useRoles()
  const [isMaking, setMaking] = useState(false)
  return (
    <>
      {isMaking ? (
        <Panel title="New role">
          <RoleForm given={undefined} onEnd={() => setMaking(false)} />
        </Panel>
      ) : (
        <Button look="main" className="self-start" onClick={() => setMaking(true)}>
          New role
        </Button>
      )}
      <Panel title="Roles">
        <Answer of={list}>
          {({ roles }) => (
            <Rows label="Roles" heads={['Name', 'For', 'Description', 'May do']} empty="No roles yet.">
              {roles.map((role) => (
                <RoleRow key={role.role_id} role={role} />
              ))}
            </Rows>
          )}
        </Answer>
      </Panel>
    </>
  )
}

function RoleRow({ role }: { role: Role }) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const remove = useAction(ROLES, () => client.roles.remove({ params: { roleId: role.role_id } }))
  return (
    <Row
      cells={[
        role.display_name,
        role.role_type === 'USER' ? 'people' : 'keys',
        role.description ??
          (role.is_system_role ? (
            <span key="d" className="text-soft">
              every organization has it
            </span>
          ) : (
            ''
          )),
        <May key="may" role={role} />,
      ]}
      below={isEdited && <RoleForm given={role} onEnd={() => setEdited(false)} />}
    >
      {!role.is_system_role && (
        <ChangeAndDelete
          isEdited={isEdited}
          onEdit={setEdited}
          label={`Delete the role ${role.display_name}`}
          message={`Delete "${role.display_name}"? Whoever still has it keeps it from being deleted.`}
          onDelete={() => remove.mutateAsync(undefined)}
        />
      )}
    </Row>
  )
}

function May({ role }: { role: Role }) {
  return (
    <details>
      <summary className="cursor-pointer">{quantity(role.permissions.length, 'permission')}</summary>
      <p className="max-w-md font-mono text-soft text-xs">{role.permissions.map(({ name }) => name).join(' ')}</p>
    </details>
  )
}

const types = [
  ['USER', 'people'],
  ['API', 'keys'],
] as const

function RoleForm({ given: role, onEnd }: { given: Role | undefined; onEnd(): void }) {
  const client = useClient()
  const all = useQuery({ queryKey: ['permissions'], queryFn: ({ signal }) => client.permissions.list({ signal }), staleTime: 600_000 })
  const [role_type, setType] = useState<'USER' | 'API'>(role?.role_type ?? 'USER')
  const [held, setHeld] = useState(() => new Set(role?.permissions.map(({ name }) => name)))
  const toggle = (name: string) =>
    setHeld((before) => {
      const next = new Set(before)
      if (!next.delete(name)) next.add(name)
      return next
    })
  return (
    <Form
      action={role ? 'Save' : 'Create role'}
      label={role ? `Change ${role.display_name}` : 'New role'}
      shape="column"
      reads={ROLES}
      conflict="display_name"
      isReady={held.size > 0}
      onSend={async (text) => {
        const body = { role_type, display_name: text('name'), description: text('description'), permissions: [...held] }
        if (role) await client.roles.update({ params: { roleId: role.role_id }, body })
        else await client.roles.create({ body })
      }}
      onDone={onEnd}
      onLeave={onEnd}
    >
      <div className="flex flex-wrap gap-2">
        <FormField name="Name" of="display_name">
          <Input name="name" required maxLength={255} defaultValue={role?.display_name} />
        </FormField>
        <FormField name="For" of="role_type">
          <Select value={role_type} options={types} onPick={setType} disabled={role !== undefined} />
        </FormField>
        <FormField name="Description" of="description" className="min-w-64 flex-1">
          <Input name="description" maxLength={4000} defaultValue={role?.description} />
        </FormField>
      </div>
      <Answer of={all}>
        {({ resources }) => (
          <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
            {resources.map((area) => (
              <fieldset key={area.group_name} className="rounded border border-line p-2">
                <legend className="px-1 font-medium">{area.group_display_name}</legend>
                {area.permissions.map(({ name, display_name, description }) => (
                  <label key={name} className="flex gap-2 py-0.5" title={description}>
                    <input type="checkbox" checked={held.has(name)} onChange={() => toggle(name)} /> {display_name}
                  </label>
                ))}
              </fieldset>
            ))}
          </div>
        )}
      </Answer>
    </Form>
  )
}
