import { useSearch } from '@tanstack/react-router'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { useMe } from '../../parts/shell/me.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { keepCredential } from '../../session/session.ts'
import { Input } from '../../ui/field.tsx'
import { PersonalKeys } from './personal-keys.tsx'
import { useRoleNames } from './role-picker.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'

type Me = NonNullable<ReturnType<typeof useMe>['data']>

/** You shows the signed-in user or key. */
export function You() {
  const me = useMe()
  return (
    <Loaded of={me}>
      {(data) => (
        <>
          {data.user && !data.api_key ? <Person user={data.user} /> : <Key me={data} />}
          <Permissions me={data} />
        </>
      )}
    </Loaded>
  )
}

function Person({ user }: { user: NonNullable<Me['user']> }) {
  const client = useClient()
  const { changed } = useSearch({ from: '/inside/settings' })
  return (
    <>
      <Panel title={user.email}>
        <Form
          action="Save"
          label="Your name"
          layout="column"
          stale={['me']}
          isDirty={false}
          done="Saved."
          onSend={(text) =>
            client.users.update({
              params: { userId: user.id },
              body: { first_name: text('first_name'), last_name: text('last_name') },
            })
          }
        >
          <FormField name="First name" of="first_name">
            <Input name="first_name" required maxLength={255} autoComplete="given-name" defaultValue={user.first_name} />
          </FormField>
          <FormField name="Last name" of="last_name">
            <Input name="last_name" required maxLength={255} autoComplete="family-name" defaultValue={user.last_name} />
          </FormField>
        </Form>
      </Panel>
      <Panel title="Password">
        {changed && (
          <p role="status" className="px-3 pt-3">
            Password changed. Your other sessions have ended.
          </p>
        )}
        <Form
          action="Change password"
          label="Password"
          layout="column"
          stale={['me']}
          onSend={async (text) => {
            const isRemembered = localStorage.getItem('dendro.credential') !== null
            const body = { current_password: text('current'), new_password: text('new') }
            const { token } = await client.auth.changePassword({ body })
            keepCredential({ kind: 'token', text: token }, isRemembered)
            // The API client of this page still sends the token that has just expired.
            location.assign('/app/settings?part=you&changed=true')
          }}
        >
          <FormField name="Current password" of="current_password">
            <Input name="current" type="password" required autoComplete="current-password" />
          </FormField>
          <FormField name="New password" of="new_password" help="12 characters or more, for example a sentence">
            <Input name="new" type="password" required minLength={12} maxLength={128} autoComplete="new-password" />
          </FormField>
        </Form>
      </Panel>
      <SecondFactor />
      <Sessions />
      <PersonalKeys />
    </>
  )
}

function Key({ me: { api_key } }: { me: Me }) {
  if (!api_key) return null
  return (
    <Panel title={`API key ${api_key.name}`}>
      <p className="p-3">
        You are signed in with the API key <code className="font-mono text-xs">{api_key.api_key}</code>
        {api_key.expires_at === undefined
          ? ', which never expires.'
          : `, which expires on ${clockOf(api_key.expires_at * 1_000, 'utc').day}.`}{' '}
        Keys are for programs. With an account of your own, the audit trail shows what you changed.
      </p>
    </Panel>
  )
}

function Permissions({ me }: { me: Me }) {
  const nameOf = useRoleNames()
  return (
    <Panel title="Your permissions">
      <div className="flex flex-col gap-2 p-3">
        <p>{me.roles.length === 0 ? 'You have no roles.' : `Your roles: ${me.roles.map(nameOf).join(', ')}.`}</p>
        <details>
          <summary className="cursor-pointer">
            {me.permissions.length === 1 ? '1 permission' : `${me.permissions.length} permissions`}
          </summary>
          <p className="font-mono text-soft text-xs">{me.permissions.join(' ')}</p>
        </details>
      </div>
    </Panel>
  )
}
