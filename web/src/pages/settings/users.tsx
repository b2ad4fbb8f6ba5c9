import type { User } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { ago } from '../../parts/numbers.ts'
import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { RolePicker, useRoleNames } from './role-picker.tsx'
import { Answer, given, Row, Rows, ShownOnce, useAct } from './rows.tsx'

export const USERS = ['users']

/** Users are the people of the organisation: invited, in, or kept out. */
export function Users() {
  const client = useClient()
  const list = useQuery({ queryKey: USERS, queryFn: ({ signal }) => client.users.list({ signal }) })
  const [told, setTold] = useState<{ what: string; link: string | undefined }>()
  return (
    <>
      <Invite onTold={setTold} />
      {told?.link && <ShownOnce what={`${told.what}: hand over this link`} text={told.link} />}
      {told && !told.link && <p role="status">{told.what}: the link went out by mail.</p>}
      <Panel title="People">
        <Answer of={list}>
          {({ users }) => (
            <Rows label="Users" heads={['Name', 'E-mail', 'Roles', 'State', 'Last here']} empty="Nobody yet: only keys know the way in.">
              {users
                .filter(({ status }) => status !== 'REMOVED')
                .map((user) => (
                  <UserRow key={user.id} user={user} onTold={setTold} />
                ))}
            </Rows>
          )}
        </Answer>
      </Panel>
    </>
  )
}

type Told = { what: string; link: string | undefined }

function Invite({ onTold }: { onTold(told: Told): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>(['Standard'])
  const invite = useAct(USERS, (body: { first_name: string; last_name: string; email: string; roles: string[] }) =>
    client.users.create({ body }),
  )
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = given(form)
    const body = { first_name: text('first_name'), last_name: text('last_name'), email: text('email'), roles }
    invite.mutate(body, {
      onSuccess: ({ email, invitation_url }) => {
        onTold({ what: `${email} is invited`, link: invitation_url })
        form.reset()
      },
    })
  }
  return (
    <Panel title="Invite somebody">
      <form onSubmit={send} className="flex flex-wrap items-end gap-2 p-3">
        <Field name="First name">
          <Input name="first_name" required maxLength={255} autoComplete="off" />
        </Field>
        <Field name="Last name">
          <Input name="last_name" required maxLength={255} autoComplete="off" />
        </Field>
        <Field name="E-mail">
          <Input name="email" type="email" required autoComplete="off" />
        </Field>
        <RolePicker type="USER" picked={roles} onPick={setRoles} />
        <Button type="submit" look="main" disabled={invite.isPending || roles.length === 0}>
          Invite
        </Button>
      </form>
      {invite.error && <FailureNote thrown={invite.error} />}
    </Panel>
  )
}

const states: Record<User['status'], string> = {
  INVITED: 'invited',
  ACTIVE: 'active',
  INACTIVE: 'not seen for long',
  DEACTIVATED: 'kept out',
  MIGRATED: 'moved',
  REMOVED: 'gone',
}

function UserRow({ user, onTold }: { user: User; onTold(told: Told): void }) {
  const client = useClient()
  const nameOf = useRoleNames()
  const [roles, setRoles] = useState<string[]>()
  const params = { userId: user.id }
  const change = useAct(USERS, (next: string[]) => client.users.update({ params, body: { roles: next } }))
  const turn = useAct(USERS, (verb: 'deactivate' | 'reactivate') => client.users[verb]({ params }))
  const link = useAct(USERS, (verb: 'resendInvite' | 'resetPassword') => client.users[verb]({ params }))
  const ask = (verb: 'resendInvite' | 'resetPassword', what: string) =>
    link.mutate(verb, { onSuccess: ({ invitation_url }) => onTold({ what: `${user.email} ${what}`, link: invitation_url }) })
  const lastS = Math.max(0, ...Object.values(user.last_logins))
  const failure = change.error ?? turn.error ?? link.error
  return (
    <Row
      cells={[
        `${user.first_name} ${user.last_name}`,
        user.email,
        roles ? (
          <span key="roles" className="flex items-end gap-1">
            <RolePicker type="USER" picked={roles} onPick={setRoles} />
            <Button
              size="small"
              look="main"
              disabled={roles.length === 0 || change.isPending}
              onClick={() => change.mutate(roles, { onSuccess: () => setRoles(undefined) })}
            >
              Save
            </Button>
          </span>
        ) : (
          user.roles.map(nameOf).join(', ')
        ),
        states[user.status],
        lastS === 0 ? (
          <span key="last" className="text-soft">
            never
          </span>
        ) : (
          ago(lastS * 1_000, Date.now())
        ),
      ]}
    >
      {failure ? <FailureNote thrown={failure} /> : null}
      <Button size="small" onClick={() => setRoles(roles ? undefined : [...user.roles])}>
        {roles ? 'Keep' : 'Roles'}
      </Button>
      {user.status === 'INVITED' && (
        <Button size="small" disabled={link.isPending} onClick={() => ask('resendInvite', 'is invited again')}>
          Invite again
        </Button>
      )}
      {user.status === 'ACTIVE' && (
        <Button size="small" disabled={link.isPending} onClick={() => ask('resetPassword', 'may choose a new password')}>
          New password
        </Button>
      )}
      {user.status === 'DEACTIVATED' ? (
        <Button size="small" disabled={turn.isPending} onClick={() => turn.mutate('reactivate')}>
          Let in again
        </Button>
      ) : (
        <Confirm
          size="small"
          action="Keep out"
          question={`End every session of ${user.email} and refuse new ones?`}
          onYes={() => turn.mutateAsync('deactivate')}
        />
      )}
      <Remove user={user} />
    </Row>
  )
}

function Remove({ user }: { user: User }) {
  const client = useClient()
  const remove = useAct(USERS, () => client.users.remove({ params: { userId: user.id } }))
  return (
    <Confirm
      size="small"
      action="Delete"
      label={`Delete ${user.email}`}
      question={`Delete ${user.email}? What the person made stays.`}
      onYes={() => remove.mutateAsync(undefined)}
    />
  )
}
