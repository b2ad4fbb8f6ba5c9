import type { UserGroup } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { GroupRoles, useGrants } from './grants.tsx'
import { Members } from './members.tsx'
import { useRoleNames } from './role-picker.tsx'

export const GROUPS = ['groups']
const opens = ['Members', 'Roles', 'Edit'] as const
type Open = (typeof opens)[number]

/** Groups manages user groups with their members and roles. */
export function Groups() {
  const client = useClient()
  const list = useQuery({ queryKey: GROUPS, queryFn: ({ signal }) => client.groups.list({ signal }) })
  return (
    <>
      <Panel title="New group" needs="groups_write">
        <Form
          action="Create group"
          stale={GROUPS}
          conflict="name"
          onSend={(text) => client.groups.create({ body: { name: text('name'), description: text('description') } })}
        >
          <GroupFields />
        </Form>
      </Panel>
      <Panel title="Groups">
        <Loaded of={list}>
          {({ groups }) => (
            <Rows
              label="Groups"
              columns={['Name', 'Description', 'Roles of members']}
              empty="No groups yet. A group gives its members roles."
              howTo={<Permitted to="groups_write">Create the first one.</Permitted>}
            >
              {groups.map((group) => (
                <GroupRow key={group.id} group={group} groups={groups} />
              ))}
            </Rows>
          )}
        </Loaded>
      </Panel>
    </>
  )
}

function GroupFields({ group }: { group?: UserGroup }) {
  return (
    <>
      <FormField name="Name" of="name">
        <Input name="name" required maxLength={255} autoComplete="off" defaultValue={group?.name} />
      </FormField>
      <FormField name="Description" of="description" className="min-w-64 flex-1">
        <Input name="description" maxLength={4000} autoComplete="off" defaultValue={group?.description} />
      </FormField>
    </>
  )
}

function GroupRow({ group, groups }: { group: UserGroup; groups: readonly UserGroup[] }) {
  const client = useClient()
  const nameOf = useRoleNames()
  const grants = useGrants()
  const [open, setOpen] = useState<Open>()
  const params = { groupId: group.id }
  const remove = useSave(() => client.groups.remove({ params }), { stale: [GROUPS] })
  const roles = grants.rolesOf(group.id)
  return (
    <Row
      cells={[
        group.name,
        <span key="description" className="text-soft">
          {group.description}
        </span>,
        grants.error ? (
          <span key="roles" className="text-soft">
            unknown
          </span>
        ) : roles.length === 0 ? (
          <span key="roles" className="text-soft">
            none
          </span>
        ) : (
          roles.map(nameOf).join(', ')
        ),
      ]}
      below={
        open === 'Members' ? (
          <Members group={group} groups={groups} />
        ) : open === 'Roles' ? (
          grants.error ? (
            <FailureNote thrown={grants.error} again={grants.refetch} />
          ) : (
            <GroupRoles key={roles.join()} group={group} roles={roles} onEnd={() => setOpen(undefined)} />
          )
        ) : open === 'Edit' ? (
          <Form
            action="Save"
            label={`Edit ${group.name}`}
            needs="groups_write"
            stale={GROUPS}
            conflict="name"
            isDirty={false}
            onSend={(text) => client.groups.update({ params, body: { name: text('name'), description: text('description') } })}
            onSaved={() => setOpen(undefined)}
            onCancel={() => setOpen(undefined)}
          >
            <GroupFields group={group} />
          </Form>
        ) : undefined
      }
    >
      {opens.map((one) => (
        <Button key={one} size="small" aria-expanded={open === one} onClick={() => setOpen(open === one ? undefined : one)}>
          {one}
        </Button>
      ))}
      <Confirm
        size="small"
        action="Delete"
        needs="groups_delete"
        label={`Delete the group ${group.name}`}
        message={`Delete “${group.name}”, its memberships and its roles?`}
        onYes={() => remove.mutateAsync()}
      />
    </Row>
  )
}
