import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { clientOf, keepCredential } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'

/** Creates the first user with a password and signs in as that user. */
export function Administrator() {
  const client = useClient()
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  /** The invitation is reused when only the password was rejected. */
  const [invited, setInvited] = useState<{ email: string; token: string | undefined }>()
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    setBusy(true)
    setFailure(undefined)
    try {
      const token = invited?.token ?? (await invite(text))
      if (token !== undefined) {
        const login = await clientOf(undefined).auth.acceptInvite({ body: { token, password: String(data.get('password') ?? '') } })
        keepCredential({ kind: 'token', text: login.token }, false)
        location.assign('/app/welcome')
      }
    } catch (thrown) {
      setFailure(thrown)
    }
    setBusy(false)
  }
  const invite = async (text: (name: string) => string): Promise<string | undefined> => {
    const body = { first_name: text('first_name'), last_name: text('last_name'), email: text('email'), roles: ['Administrator'] }
    const { invitation_url } = await client.users.create({ body })
    const token = invitation_url === undefined ? undefined : (new URL(invitation_url).searchParams.get('token') ?? undefined)
    setInvited({ email: body.email, token })
    return token
  }
  if (invited && invited.token === undefined)
    return <p role="status">An invitation was sent to {invited.email}. Open its link to set a password.</p>
  return (
    <form aria-label="Your account" onSubmit={send} className="flex flex-col gap-3 rounded-md border border-line bg-panel p-3">
      <p className="text-soft">You signed in with an API key. Create an account for yourself, and use keys for programs.</p>
      <div className="grid gap-2 sm:grid-cols-2">
        <Field name="First name">
          <Input name="first_name" required maxLength={255} autoComplete="given-name" readOnly={invited !== undefined} />
        </Field>
        <Field name="Last name">
          <Input name="last_name" required maxLength={255} autoComplete="family-name" readOnly={invited !== undefined} />
        </Field>
        <Field name="E-mail">
          <Input name="email" type="email" required autoComplete="username" readOnly={invited !== undefined} />
        </Field>
        <Field name="Password" help="12 characters or more, for example a sentence">
          <Input name="password" type="password" required minLength={12} maxLength={128} autoComplete="new-password" />
        </Field>
      </div>
      {failure !== undefined && <FailureNote thrown={failure} />}
      <Button type="submit" variant="main" className="self-start" disabled={isBusy}>
        {isBusy ? 'Working…' : 'Create administrator'}
      </Button>
    </form>
  )
}
