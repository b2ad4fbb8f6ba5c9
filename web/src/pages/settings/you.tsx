import { useSearch } from '@tanstack/react-router'
import { useClient } from '../../parts/client.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { useMe } from '../../parts/me.ts'
import { Panel } from '../../parts/page.tsx'
import { Answer } from '../../parts/records.tsx'
import { clockOf } from '../../parts/time-range.ts'
import { keepCredential } from '../../session/session.ts'
import { Input } from '../../ui/field.tsx'
import { useRoleNames } from './role-picker.tsx'

type Me = NonNullable<ReturnType<typeof useMe>['data']>

/** You shows the signed-in user or key. */
export function You() {
  const me = useMe()
  return (
    <Answer of={me}>
      {(data) => (
        <>
          {data.user ? <Person user={data.user} /> : <Key me={data} />}
          <May me={data} />
        </>
      )}
    </Answer>
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
          shape="column"
          reads={['me']}
          done="Saved."
          className="max-w-xl"
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
            Changed. Your other sessions have ended.
          </p>
        )}
        <Form
          action="Change the password"
          label="Password"
          shape="column"
          reads={['me']}
          className="max-w-xl"
          onSend={async (text) => {
            const isKept = localStorage.getItem('dendro.credential') !== null
            const body = { current_password: text('current'), new_password: text('new') }
            const { token } = await client.auth.changePassword({ body })
            keepCredential({ kind: 'token', text: token }, isKept)
            // The client of this page still shows the token that has just ended.
            location.assign('/app/settings?part=you&changed=true')
          }}
        >
          <FormField name="Password now" of="current_password">
            <Input name="current" type="password" required autoComplete="current-password" />
          </FormField>
          <FormField name="New password" of="new_password" help="12 characters or more; a sentence of your own is a good one">
            <Input name="new" type="password" required minLength={12} maxLength={128} autoComplete="new-password" />
          </FormField>
        </Form>
      </Panel>
    </>
  )
}

function Key({ me: { api_key } }: { me: Me }) {
  if (!api_key) return null
  return (
    <Panel title={`The key ${api_key.name}`}>
      <p className="p-3">
        You are signed in with a key, known by <code className="font-mono text-xs">{api_key.api_key}</code>
        {api_key.expires_at === undefined ? ', which never ends.' : `, which ends on ${clockOf(api_key.expires_at * 1_000, 'utc').day}.`}{' '}
        Keys are for programs: an account of your own lets others see who did what.
      </p>
    </Panel>
  )
}

function May({ me }: { me: Me }) {
  const nameOf = useRoleNames()
  return (
    <Panel title="Your permissions">
      <div className="flex flex-col gap-2 p-3">
        <p>{me.roles.length === 0 ? 'You have no role.' : `Your roles: ${me.roles.map(nameOf).join(', ')}.`}</p>
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
