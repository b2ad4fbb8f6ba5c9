import { ApiFailure, NoResponse } from '@dendro/api/client'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { announceSignIn } from '../../session/other-tabs.ts'
import { type Credential, clientOf, keepCredential, lastKind } from '../../session/session.ts'
import { beginSignOn, signOnAnswer } from '../../session/single-sign-on.ts'
import { Button } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { AccountForm } from './account-form.tsx'
import { asksForCode, CodeField, isWrongCode, WRONG_CODE } from './code-field.tsx'
import { SignOnReturn } from './sign-on-return.tsx'

/** SignInPage is the form, or completes a single sign-on. */
export function SignInPage() {
  const answer = signOnAnswer()
  return answer === undefined ? <SignInForm /> : <SignOnReturn answer={answer} />
}

/** SignInForm accepts an e-mail with a password, an API key, an invitation, or an e-mail for single sign-on. */
function SignInForm() {
  const params = useSearch({ from: '/sign-in' })
  const { back } = params
  const queries = useQueryClient()
  const [method, setMethod] = useState<SignInMethod>(params.way ?? (lastKind() === 'token' ? 'password' : 'key'))
  const [isRemembered, setRemembered] = useState(false)
  const [failed, setFailed] = useState<{ text: string; id: string | undefined }>()
  const [isBusy, setBusy] = useState(false)
  const [needsCode, setNeedsCode] = useState(false)
  const [providers, setProviders] = useState<readonly Provider[]>([])

  const leaveFor = (provider: string) => beginSignOn(provider, { back: back ?? EXPLORE, isRemembered })
  /** Leaves for the provider of the e-mail's domain, or shows the choice. */
  const chooseProvider = async (email: string) => {
    const found = (await clientOf(undefined).signOn.providers({ body: { email } })).providers
    const [only, ...others] = found
    if (!only) throw new NoProvider()
    if (others.length === 0) return leaveFor(only.id)
    setProviders(found)
    setBusy(false)
  }

  const choose = (one: SignInMethod) => {
    setMethod(one)
    setNeedsCode(false)
    setFailed(undefined)
  }
  const fail = (thrown: unknown) => {
    if (asksForCode(thrown)) {
      setNeedsCode(true)
      return setBusy(false)
    }
    setFailed({
      text: errorText(thrown, method),
      id: thrown instanceof ApiFailure && thrown.status >= 500 ? thrown.correlation_id : undefined,
    })
    setBusy(false)
  }
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setFailed(undefined)
    try {
      if (method === 'sso') return await chooseProvider(String(form.get('email') ?? '').trim())
      const credential = await credentialOf(method, form)
      keepCredential(credential, isRemembered)
      announceSignIn(credential)
      queries.clear()
      // A full page load drops the cached data of the previous user.
      location.assign(back && back !== EXPLORE ? back : (await isFirst(credential)) ? '/app/welcome' : EXPLORE)
    } catch (thrown) {
      fail(thrown)
    }
  }
  return (
    <AccountForm title="Sign in to Dendro" onSubmit={send}>
      <Choices label="How to sign in" options={methods} value={method} onPick={choose} />
      {method === 'key' ? (
        <Field name="API key" help="The service prints the first key at its first start.">
          <Input key="key" name="key" type="password" autoComplete="off" required className="font-mono" placeholder="dk_…" />
        </Field>
      ) : method === 'invitation' ? (
        <>
          <Field name="Invitation">
            <Input
              key="invitation"
              name="invitation"
              autoComplete="off"
              required
              className="font-mono"
              placeholder="Link of the invitation"
            />
          </Field>
          <Field name="New password" help="12 characters or more, for example a sentence.">
            <Input name="new_password" type="password" autoComplete="new-password" required minLength={12} maxLength={128} />
          </Field>
        </>
      ) : method === 'sso' ? (
        <>
          <Field name="E-mail">
            <Input key="sso" name="email" type="email" autoComplete="username" required onChange={() => setProviders([])} />
          </Field>
          {providers.map(({ id, name }) => (
            <Button key={id} className="justify-center" onClick={() => leaveFor(id).catch(fail)}>
              Continue with {name}
            </Button>
          ))}
        </>
      ) : (
        <>
          <Field name="E-mail">
            <Input key="email" name="email" type="email" autoComplete="username" required onChange={() => setNeedsCode(false)} />
          </Field>
          <Field name="Password">
            <Input name="password" type="password" autoComplete="current-password" required />
          </Field>
        </>
      )}
      {needsCode && (method === 'password' || method === 'invitation') && <CodeField />}
      <label className="flex items-center gap-2 text-soft">
        <input type="checkbox" checked={isRemembered} onChange={(event) => setRemembered(event.target.checked)} /> Stay signed in on this
        computer
      </label>
      {failed && (
        <p role="alert" className="text-error">
          {failed.text}
          {failed.id && <span className="block break-all font-mono text-xs">{failed.id}</span>}
        </p>
      )}
      <Button type="submit" variant="main" className="justify-center" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </Button>
    </AccountForm>
  )
}

/** EXPLORE is the default destination. */
const EXPLORE = '/app/explore'

type Provider = { id: string; name: string }
class NoProvider extends Error {}

type SignInMethod = 'key' | 'password' | 'invitation' | 'sso'
const methods: readonly (readonly [SignInMethod, string])[] = [
  ['key', 'Key'],
  ['password', 'Password'],
  ['invitation', 'Invitation'],
  ['sso', 'Single sign-on'],
]
const errorTexts: Record<SignInMethod, string> = {
  key: 'This key is unknown or expired. Check it, or ask an administrator for another.',
  password: 'The e-mail or the password is wrong.',
  invitation: 'This invitation is unknown or was already used. Ask an administrator for another.',
  sso: 'The identity provider refused the sign-on.',
}

function errorText(thrown: unknown, method: SignInMethod): string {
  if (thrown instanceof NoProvider) return 'No identity provider is set up for this e-mail address.'
  if (thrown instanceof NoResponse) return 'The service did not answer. Try again in a moment.'
  if (!(thrown instanceof ApiFailure)) return String(thrown)
  if (isWrongCode(thrown)) return WRONG_CODE
  if (thrown.status === 401) return errorTexts[method]
  if (thrown.status === 429) return 'Too many attempts. Wait a moment and try again.'
  return `${thrown.details.charAt(0).toUpperCase()}${thrown.details.slice(1)}.`
}

async function credentialOf(method: SignInMethod, form: FormData): Promise<Credential> {
  const text = (name: string) => String(form.get(name) ?? '')
  const code = text('code') === '' ? {} : { code: text('code') }
  if (method === 'password') {
    const { token } = await clientOf(undefined).auth.login({ body: { email: text('email').trim(), password: text('password'), ...code } })
    return { kind: 'token', text: token }
  }
  if (method === 'invitation') {
    const link = text('invitation').trim()
    const invitation = /[?&]token=([\w-]+)/.exec(link)?.[1] ?? link
    const { token } = await clientOf(undefined).auth.acceptInvite({ body: { token: invitation, password: text('new_password'), ...code } })
    return { kind: 'token', text: token }
  }
  const credential: Credential = { kind: 'key', text: text('key').trim() }
  await clientOf(credential).auth.me()
  return credential
}

/** isFirst is true for a key in an organization without active users. */
async function isFirst(credential: Credential): Promise<boolean> {
  if (credential.kind !== 'key') return false
  try {
    return (await clientOf(credential).users.list({ query: { status: 'ACTIVE', limit: 1 } })).users.length === 0
  } catch {
    // A key without permission to list users is not the first one.
    return false
  }
}
