import { ApiFailure } from '@dendro/api/client'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { invitationToken } from '../../session/invitation.ts'
import { clientOf, keepCredential } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { AccountForm } from './account-form.tsx'
import { asksForCode, CodeField, isWrongCode, WRONG_CODE } from './code-field.tsx'

/** InvitationPage is the target of an invitation link: the user sets a password and is signed in. */
export function InvitationPage() {
  const token = invitationToken()
  const [problem, setProblem] = useState(token ? '' : 'This link has no token. Open the complete link of your invitation.')
  const [isBusy, setBusy] = useState(false)
  const [needsCode, setNeedsCode] = useState(false)
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const password = String(form.get('password') ?? '')
    if (password !== form.get('again')) return setProblem('The two passwords differ.')
    setBusy(true)
    setProblem('')
    try {
      const code = form.get('code')
      const body = { token: token ?? '', password, ...(code === null ? {} : { code: String(code) }) }
      const login = await clientOf(undefined).auth.acceptInvite({ body })
      keepCredential({ kind: 'token', text: login.token }, form.get('stay') !== null)
      location.assign('/app/explore')
    } catch (thrown) {
      if (asksForCode(thrown)) setNeedsCode(true)
      else setProblem(problemText(thrown))
      setBusy(false)
    }
  }
  return (
    <AccountForm title="Welcome to Dendro" onSubmit={send}>
      <p className="text-soft">Choose a password to accept your invitation.</p>
      <Field name="Password" help="12 characters or more, for example a sentence.">
        <Input name="password" type="password" autoComplete="new-password" minLength={12} maxLength={128} required />
      </Field>
      <Field name="Repeat password">
        <Input name="again" type="password" autoComplete="new-password" required />
      </Field>
      {needsCode && <CodeField />}
      <label className="flex items-center gap-2 text-soft">
        <input type="checkbox" name="stay" /> Stay signed in on this computer
      </label>
      {problem && (
        <p role="alert" className="text-error">
          {problem}
        </p>
      )}
      <Button type="submit" variant="main" className="justify-center" disabled={isBusy || !token}>
        {isBusy ? 'Signing in…' : 'Set password and sign in'}
      </Button>
      <Link to="/sign-in" search={{}} className="text-center text-accent text-xs hover:underline">
        Sign in with an existing account
      </Link>
    </AccountForm>
  )
}

const problemText = (thrown: unknown): string =>
  isWrongCode(thrown)
    ? WRONG_CODE
    : thrown instanceof ApiFailure
      ? `${thrown.details.charAt(0).toUpperCase()}${thrown.details.slice(1)}.`
      : 'The service did not answer. Your link is still valid: try again in a moment.'
