import type { User } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ago, quantity } from '../../parts/chart/numbers.ts'
import { useUserList } from '../../parts/records/caller-lists.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { MorePages } from '../../parts/records/pages.tsx'
import { Loaded, Row, Rows, ShownOnce } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { isSameSet, RolePicker, useRoleNames } from './role-picker.tsx'

export const USERS = ['users']
const columns = ['Name', 'E-mail', 'Roles', 'Status', 'Last sign-in']

type SentLink = { what: string; link: string | undefined }

/** Users manages the users of the organization. */
export function Users() {
  const [sentLink, setSentLink] = useState<SentLink>()
  const [find, setFind] = useState('')
  const list = useUserList(find)
  const shown = list.data && list.records.filter(({ status }) => status !== 'REMOVED')
  return (
    <>
      <Permitted to="users_write">
        <Invite onLink={setSentLink} />
      </Permitted>
      {sentLink?.link && <ShownOnce title={`${sentLink.what}: share this link`} text={sentLink.link} />}
      {sentLink && !sentLink.link && <p role="status">{sentLink.what}: the link was sent by e-mail.</p>}
      <Panel
        title="Users"
        actions={
          (find !== '' || (shown?.length ?? 0) > SEARCHED_FROM) && (
            <Input
              aria-label="Find a user"
              placeholder="Find a user"
              className="max-w-56"
              value={find}
              onChange={(event) => setFind(event.target.value)}
            />
          )
        }
      >
        <Loaded of={{ ...list, data: shown }}>
          {(users) => (
            <Rows
              label="Users"
              columns={columns}
              empty={find === '' ? 'No users yet: only API keys have access.' : 'No user matches.'}
              howTo={find === '' && <Permitted to="users_write">Invite the first one.</Permitted>}
            >
              {users.map((user) => (
                <UserRow key={user.id} user={user} onLink={setSentLink} />
              ))}
            </Rows>
          )}
        </Loaded>
        <MorePages of={list} />
      </Panel>
    </>
  )
}

/** SEARCHED_FROM is the number of users from which the search box is shown. */
const SEARCHED_FROM = 8

function Invite({ onLink }: { onLink(sentLink: SentLink): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>(['Standard'])
  return (
    <Panel title="Invite a user">
      <Form
        action="Invite"
        stale={USERS}
        conflict="email"
        isReady={roles.length > 0}
        onSend={(text) =>
          client.users.create({ body: { first_name: text('first_name'), last_name: text('last_name'), email: text('email'), roles } })
        }
        onSaved={({ email, invitation_url }) => onLink({ what: `${email} was invited`, link: invitation_url })}
      >
        <FormField name="First name" of="first_name">
          <Input name="first_name" required maxLength={255} autoComplete="off" />
        </FormField>
        <FormField name="Last name" of="last_name">
          <Input name="last_name" required maxLength={255} autoComplete="off" />
        </FormField>
        <FormField name="E-mail" of="email">
          <Input name="email" type="email" required autoComplete="off" />
        </FormField>
        <FormField name="Roles" of="roles">
          <RolePicker type="USER" picked={roles} onPick={setRoles} />
        </FormField>
      </Form>
    </Panel>
  )
}

const states: Record<User['status'], string> = {
  INVITED: 'invited',
  ACTIVE: 'active',
  INACTIVE: 'inactive',
  DEACTIVATED: 'deactivated',
  MIGRATED: 'migrated',
  REMOVED: 'removed',
}

function UserRow({ user, onLink }: { user: User; onLink(sentLink: SentLink): void }) {
  const client = useClient()
  const nameOf = useRoleNames()
  const [isEdited, setEdited] = useState(false)
  const params = { userId: user.id }
  const reactivate = useSave(() => client.users.reactivate({ params }), { stale: [USERS] })
  const link = useSave(
    async ({ verb, what }: { verb: 'resendInvite' | 'resetPassword'; what: string }) => {
      const { invitation_url } = await client.users[verb]({ params })
      return { what: `${user.email} ${what}`, link: invitation_url }
    },
    // The row may be gone after the reload.
    { stale: [USERS], onSaved: onLink },
  )
  const sendLink = (verb: 'resendInvite' | 'resetPassword', what: string) => link.mutate({ verb, what })
  const lastS = Math.max(0, ...Object.values(user.last_logins))
  const failure = reactivate.error ?? link.error
  const below = isEdited ? <UserForm user={user} onEnd={() => setEdited(false)} /> : failure ? <FailureNote thrown={failure} /> : undefined
  return (
    <Row
      cells={[
        `${user.first_name} ${user.last_name}`,
        user.email,
        user.roles.map(nameOf).join(', '),
        states[user.status],
        lastS === 0 ? (
          <span key="last" className="text-soft">
            never
          </span>
        ) : (
          ago(lastS * 1_000, Date.now())
        ),
      ]}
      below={below}
    >
      <Permitted to="users_write">
        <Button size="small" aria-label={`Edit ${user.email}`} aria-expanded={isEdited} onClick={() => setEdited(!isEdited)}>
          Edit
        </Button>
        {user.status === 'INVITED' && (
          <Button size="small" disabled={link.isPending} onClick={() => sendLink('resendInvite', 'was invited again')}>
            Resend invitation
          </Button>
        )}
        {user.status === 'ACTIVE' && (
          <Button size="small" disabled={link.isPending} onClick={() => sendLink('resetPassword', 'can set a new password')}>
            Reset password
          </Button>
        )}
        {user.status === 'DEACTIVATED' ? (
          <Button size="small" disabled={reactivate.isPending} onClick={() => reactivate.mutate()}>
            Reactivate
          </Button>
        ) : (
          <Deactivate user={user} />
        )}
      </Permitted>
      <Remove user={user} />
    </Row>
  )
}

function UserForm({ user, onEnd }: { user: User; onEnd(): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>([...user.roles])
  const params = { userId: user.id }
  const groups = useQuery({ queryKey: ['groups of', user.id], queryFn: ({ signal }) => client.users.groups({ params, signal }) })
  const names = groups.data?.groups.map(({ name }) => name) ?? []
  return (
    <>
      <Form
        action="Save"
        label={`Edit ${user.email}`}
        stale={USERS}
        isReady={roles.length > 0}
        isDirty={!isSameSet(roles, user.roles)}
        onSend={(text) => client.users.update({ params, body: { first_name: text('first_name'), last_name: text('last_name'), roles } })}
        onSaved={onEnd}
        onCancel={onEnd}
      >
        <FormField name="First name" of="first_name">
          <Input name="first_name" required maxLength={255} defaultValue={user.first_name} autoComplete="off" />
        </FormField>
        <FormField name="Last name" of="last_name">
          <Input name="last_name" required maxLength={255} defaultValue={user.last_name} autoComplete="off" />
        </FormField>
        <FormField name="Roles" of="roles">
          <RolePicker type="USER" picked={roles} onPick={setRoles} />
        </FormField>
      </Form>
      {groups.data && <p className="px-3 pb-3 text-soft">{names.length === 0 ? 'Not in any group.' : `Groups: ${names.join(', ')}.`}</p>}
      <SignedIn user={user} />
    </>
  )
}

/** SignedIn ends what a user is signed in with, and says what there was to end. */
function SignedIn({ user: { id, email } }: { user: User }) {
  const client = useClient()
  const params = { userId: id }
  const [outcome, setOutcome] = useState('')
  const endSessions = useSave(() => client.users.endSessions({ params }), { stale: [USERS] })
  const removeFactor = useSave(() => wasThere(client.users.removeSecondFactor({ params })), { stale: [USERS] })
  return (
    <div className="flex flex-wrap items-center gap-2 px-3 pb-3">
      <Confirm
        size="small"
        action="End sessions"
        label={`End sessions of ${email}`}
        message={`End all sessions of ${email}? The user can sign in again.`}
        onYes={async () => {
          const { ended } = await endSessions.mutateAsync()
          setOutcome(ended === 0 ? 'There was no session to end.' : `${quantity(ended, 'session')} ended.`)
        }}
      />
      <Confirm
        size="small"
        action="Remove second factor"
        label={`Remove second factor of ${email}`}
        message={`Remove the second factor of ${email}? The password alone is then enough to sign in.`}
        onYes={async () => {
          const hadOne = await removeFactor.mutateAsync()
          setOutcome(hadOne ? 'Second factor removed.' : 'This user has no second factor.')
        }}
      />
      <span role="status">{outcome}</span>
    </div>
  )
}

/** wasThere is false if there was nothing to delete. */
async function wasThere(deletion: Promise<unknown>): Promise<boolean> {
  try {
    await deletion
    return true
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status === 404) return false
    throw thrown
  }
}

function Deactivate({ user }: { user: User }) {
  const client = useClient()
  const deactivate = useSave(() => client.users.deactivate({ params: { userId: user.id } }), { stale: [USERS] })
  return (
    <Confirm
      size="small"
      action="Deactivate"
      label={`Deactivate ${user.email}`}
      message={`Deactivate ${user.email}? All sessions end, and the user cannot sign in.`}
      onYes={() => deactivate.mutateAsync()}
    />
  )
}

function Remove({ user }: { user: User }) {
  const client = useClient()
  const remove = useSave(() => client.users.remove({ params: { userId: user.id } }), { stale: [USERS] })
  return (
    <Confirm
      size="small"
      action="Delete"
      needs="users_delete"
      label={`Delete ${user.email}`}
      message={`Delete ${user.email}? Records that the user created stay.`}
      onYes={() => remove.mutateAsync()}
    />
  )
}
