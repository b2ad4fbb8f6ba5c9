import type { Role } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { ROLES, useRoles } from './role-picker.tsx'
import { Answer, given, Row, Rows, useAct } from './rows.tsx'

/** Roles say what people and keys may do: those that every organisation has, and its own. */
export function Roles() {
  const client = useClient()
  const list = useRoles()
  const [edited, setEdited] = useState<Role | 'new'>()
  const remove = useAct(ROLES, (roleId: string) => client.roles.remove({ params: { roleId } }))
  return (
    <>
      {edited === undefined && (
        <Button look="main" className="self-start" onClick={() => setEdited('new')}>
          New role
        </Button>
      )}
      {edited !== undefined && (
        <RoleForm
          key={edited === 'new' ? 'new' : edited.role_id}
          role={edited === 'new' ? undefined : edited}
          onEnd={() => setEdited(undefined)}
        />
      )}
      <Panel title="Roles">
        <Answer of={list}>
          {({ roles }) => (
            <Rows label="Roles" heads={['Name', 'For', 'Description', 'May do']} empty="There is no role.">
              {roles.map((role) => (
                <Row
                  key={role.role_id}
                  cells={[
                    role.display_name,
                    role.role_type === 'USER' ? 'people' : 'keys',
                    role.description ??
                      (role.is_system_role ? (
                        <span key="d" className="text-soft">
                          every organisation has it
                        </span>
                      ) : (
                        ''
                      )),
                    <May key="may" role={role} />,
                  ]}
                >
                  {!role.is_system_role && (
                    <>
                      <Button size="small" onClick={() => setEdited(role)}>
                        Change
                      </Button>
                      <Confirm
                        size="small"
                        action="Delete"
                        label={`Delete the role ${role.display_name}`}
                        question={`Delete "${role.display_name}"?`}
                        onYes={() => remove.mutateAsync(role.role_id)}
                      />
                    </>
                  )}
                </Row>
              ))}
            </Rows>
          )}
        </Answer>
      </Panel>
    </>
  )
}

function May({ role }: { role: Role }) {
  return (
    <details>
      <summary className="cursor-pointer">{role.permissions.length} permissions</summary>
      <p className="max-w-md font-mono text-soft text-xs">{role.permissions.map(({ name }) => name).join(' ')}</p>
    </details>
  )
}

const types = [
  ['USER', 'people'],
  ['API', 'keys'],
] as const

function RoleForm({ role, onEnd }: { role: Role | undefined; onEnd(): void }) {
  const client = useClient()
  const all = useQuery({ queryKey: ['permissions'], queryFn: ({ signal }) => client.permissions.list({ signal }), staleTime: 600_000 })
  const [type, setType] = useState<'USER' | 'API'>(role?.role_type ?? 'USER')
  const [held, setHeld] = useState(() => new Set(role?.permissions.map(({ name }) => name)))
  type Draft = { role_type: 'USER' | 'API'; display_name: string; description: string; permissions: string[] }
  const keep = useAct(ROLES, async (body: Draft) => {
    if (role) await client.roles.update({ params: { roleId: role.role_id }, body })
    else await client.roles.create({ body })
  })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = given(event.currentTarget)
    const body = { role_type: type, display_name: text('name'), description: text('description'), permissions: [...held] }
    keep.mutate(body, { onSuccess: onEnd })
  }
  const toggle = (name: string) =>
    setHeld((before) => {
      const next = new Set(before)
      if (!next.delete(name)) next.add(name)
      return next
    })
  return (
    <Panel title={role ? `Change ${role.display_name}` : 'New role'}>
      <form onSubmit={send} className="flex flex-col gap-3 p-3">
        <div className="flex flex-wrap gap-2">
          <Field name="Name">
            <Input name="name" required maxLength={255} defaultValue={role?.display_name} />
          </Field>
          <Field name="For">
            <Select
              value={type}
              options={types}
              onPick={(picked) => setType(picked === 'API' ? 'API' : 'USER')}
              disabled={role !== undefined}
            />
          </Field>
          <Field name="Description" className="min-w-64 flex-1">
            <Input name="description" maxLength={4000} defaultValue={role?.description} />
          </Field>
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
        {keep.error && <FailureNote thrown={keep.error} />}
        <div className="flex gap-2">
          <Button type="submit" look="main" disabled={keep.isPending || held.size === 0}>
            {role ? 'Save' : 'Make the role'}
          </Button>
          <Button onClick={onEnd}>Leave it</Button>
        </div>
      </form>
    </Panel>
  )
}
