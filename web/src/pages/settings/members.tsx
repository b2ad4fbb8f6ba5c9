import type { UserGroup } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useUserSearch } from '../../parts/records/caller-lists.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { hasWords } from '../../parts/records/has-words.ts'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { SearchSelect } from '../../parts/records/search-select.tsx'
import { useCallers } from '../../parts/shell/callers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'

type Member = { member_id: string; member_type: 'USER' | 'GROUP' }

/** Members manages the users and groups in a group. */
export function Members({ group, groups }: { group: UserGroup; groups: readonly UserGroup[] }) {
  const client = useClient()
  const params = { groupId: group.id }
  const key = ['members', group.id]
  const members = useQuery({ queryKey: key, queryFn: ({ signal }) => client.groups.members({ params, signal }) })
  const [find, setFind] = useState('')
  const users = useUserSearch(find)
  const [picked, setPicked] = useState('')
  const remove = useSave((member: Member) => client.groups.removeMembers({ params, body: { members: [member] } }), { stale: [key] })
  const groupNames = new Map(groups.map(({ id, name }) => [id, `group ${name}`]))
  const memberIds = (members.data?.members ?? []).map(({ member_id }) => member_id)
  const callerOf = useCallers(picked === '' ? memberIds : [...memberIds, picked])
  const nameOf = (id: string) => groupNames.get(id) ?? callerOf(id)
  const found = [
    ...users.records.map(({ id, email }) => [id, email] as const),
    ...[...groupNames].filter(([, name]) => hasWords(name, find)),
  ]
  const others = found.filter(([id]) => id !== group.id && !memberIds.includes(id))
  const typeOf = (id: string) => (groupNames.has(id) ? ('GROUP' as const) : ('USER' as const))
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
          {!users.data || users.isWhole ? (
            <Select value={picked} options={[['', others.length === 0 ? 'no others' : 'Select…'], ...others]} onPick={setPicked} />
          ) : (
            <SearchSelect
              name="Add a member"
              noun="user or group"
              selected={picked === '' ? 'Select…' : (nameOf(picked) ?? '…')}
              options={others}
              of={users}
              find={find}
              onFind={setFind}
              onPick={setPicked}
            />
          )}
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
              <Row key={member_id} cells={[nameOf(member_id) ?? member_id]}>
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
