import type { UserGroup } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { USERS } from './users.tsx'

type Member = { member_id: string; member_type: 'USER' | 'GROUP' }

/** Members manages the users and groups in a group. */
export function Members({ group, groups }: { group: UserGroup; groups: readonly UserGroup[] }) {
  const client = useClient()
  const params = { groupId: group.id }
  const key = ['members', group.id]
  const members = useQuery({ queryKey: key, queryFn: ({ signal }) => client.groups.members({ params, signal }) })
  const users = useQuery({ queryKey: USERS, queryFn: ({ signal }) => client.users.list({ signal }) })
  const [picked, setPicked] = useState('')
  const remove = useSave((member: Member) => client.groups.removeMembers({ params, body: { members: [member] } }), { stale: [key] })
  const names = new Map<string, string>([
    ...(users.data?.users ?? []).map(({ id, email }) => [id, email] as const),
    ...groups.map(({ id, name }) => [id, `group ${name}`] as const),
  ])
  const memberIds = new Set(members.data?.members.map(({ member_id }) => member_id))
  const others = [...names].filter(([id]) => id !== group.id && !memberIds.has(id))
  const typeOf = (id: string) => (groups.some((one) => one.id === id) ? ('GROUP' as const) : ('USER' as const))
  return (
    <section aria-label={`Members of ${group.name}`}>
      <Form
        needs="groups_write"
        action="Add"
        stale={key}
        isReady={picked !== ''}
        onSend={() => client.groups.addMembers({ params, body: { members: [{ member_id: picked, member_type: typeOf(picked) }] } })}
        onSaved={() => setPicked('')}
      >
        <FormField name="Add a member" of="members">
          <Select value={picked} options={[['', others.length === 0 ? 'no others' : 'Select…'], ...others]} onPick={setPicked} />
        </FormField>
      </Form>
      {remove.error && <FailureNote thrown={remove.error} />}
      <Loaded of={members}>
        {(data) => (
          <Rows
            label="Members"
            columns={['Member']}
            empty="No members yet."
            howTo={<Permitted to="groups_write">Add the first one.</Permitted>}
          >
            {data.members.map(({ member_id, member_type }) => (
              <Row key={member_id} cells={[names.get(member_id) ?? member_id]}>
                <Permitted to="groups_write">
                  <Button size="small" disabled={remove.isPending} onClick={() => remove.mutate({ member_id, member_type })}>
                    Remove
                  </Button>
                </Permitted>
              </Row>
            ))}
          </Rows>
        )}
      </Loaded>
    </section>
  )
}
