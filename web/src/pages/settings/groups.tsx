import type { UserGroup } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Answer, given, Row, Rows, useAct } from './rows.tsx'
import { USERS } from './users.tsx'

const GROUPS = ['groups']

/** Groups are people who are given roles together. */
export function Groups() {
  const client = useClient()
  const list = useQuery({ queryKey: GROUPS, queryFn: ({ signal }) => client.groups.list({ signal }) })
  const create = useAct(GROUPS, (body: { name: string; description: string }) => client.groups.create({ body }))
  const [shown, setShown] = useState<string>()
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = given(form)
    create.mutate({ name: text('name'), description: text('description') }, { onSuccess: () => form.reset() })
  }
  return (
    <>
      <Panel title="New group">
        <form onSubmit={send} className="flex flex-wrap items-end gap-2 p-3">
          <Field name="Name">
            <Input name="name" required maxLength={255} autoComplete="off" />
          </Field>
          <Field name="Description" className="min-w-64 flex-1">
            <Input name="description" maxLength={4000} autoComplete="off" />
          </Field>
          <Button type="submit" look="main" disabled={create.isPending}>
            Make the group
          </Button>
        </form>
        {create.error && <FailureNote thrown={create.error} />}
      </Panel>
      <Panel title="Groups">
        <Answer of={list}>
          {({ groups }) => (
            <Rows label="Groups" heads={['Name', 'Description']} empty="There is no group yet.">
              {groups.map((group) => (
                <GroupRow
                  key={group.id}
                  group={group}
                  isShown={shown === group.id}
                  onShow={() => setShown(shown === group.id ? undefined : group.id)}
                />
              ))}
            </Rows>
          )}
        </Answer>
      </Panel>
      {list.data?.groups
        .filter(({ id }) => id === shown)
        .map((group) => (
          <Members key={group.id} group={group} groups={list.data.groups} />
        ))}
    </>
  )
}

function GroupRow({ group, isShown, onShow }: { group: UserGroup; isShown: boolean; onShow(): void }) {
  const client = useClient()
  const remove = useAct(GROUPS, () => client.groups.remove({ params: { groupId: group.id } }))
  return (
    <Row
      cells={[
        group.name,
        <span key="description" className="text-soft">
          {group.description}
        </span>,
      ]}
    >
      <Button size="small" aria-expanded={isShown} onClick={onShow}>
        Members
      </Button>
      <Confirm
        size="small"
        action="Delete"
        label={`Delete the group ${group.name}`}
        question={`Delete "${group.name}" with its memberships and the roles it was granted?`}
        onYes={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}

function Members({ group, groups }: { group: UserGroup; groups: readonly UserGroup[] }) {
  const client = useClient()
  const params = { groupId: group.id }
  const key = ['members', group.id]
  const members = useQuery({ queryKey: key, queryFn: ({ signal }) => client.groups.members({ params, signal }) })
  const users = useQuery({ queryKey: USERS, queryFn: ({ signal }) => client.users.list({ signal }) })
  const [picked, setPicked] = useState('')
  type Member = { member_id: string; member_type: 'USER' | 'GROUP' }
  const add = useAct(key, (member: Member) => client.groups.addMembers({ params, body: { members: [member] } }))
  const take = useAct(key, (member: Member) => client.groups.removeMembers({ params, body: { members: [member] } }))
  const names = new Map<string, string>([
    ...(users.data?.users ?? []).map(({ id, email }) => [id, email] as const),
    ...groups.map(({ id, name }) => [id, `group ${name}`] as const),
  ])
  const inside = new Set(members.data?.members.map(({ member_id }) => member_id))
  const others = [...names].filter(([id]) => id !== group.id && !inside.has(id))
  const typeOf = (id: string) => (groups.some((one) => one.id === id) ? 'GROUP' : 'USER')
  return (
    <Panel title={`Members of ${group.name}`}>
      <div className="flex items-end gap-2 p-3">
        <Field name="Add">
          <Select value={picked} options={[['', 'choose …'], ...others]} onPick={setPicked} />
        </Field>
        <Button
          look="main"
          disabled={picked === '' || add.isPending}
          onClick={() => add.mutate({ member_id: picked, member_type: typeOf(picked) }, { onSuccess: () => setPicked('') })}
        >
          Add
        </Button>
      </div>
      {(add.error ?? take.error) && <FailureNote thrown={add.error ?? take.error} />}
      <Answer of={members}>
        {(data) => (
          <Rows label="Members" heads={['Member']} empty="Nobody is in this group.">
            {data.members.map(({ member_id, member_type }) => (
              <Row key={member_id} cells={[names.get(member_id) ?? member_id]}>
                <Button size="small" disabled={take.isPending} onClick={() => take.mutate({ member_id, member_type })}>
                  Take out
                </Button>
              </Row>
            ))}
          </Rows>
        )}
      </Answer>
    </Panel>
  )
}
