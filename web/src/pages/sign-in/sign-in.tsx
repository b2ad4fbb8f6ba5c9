import { ApiFailure, NoResponse } from '@dendro/api/client'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type Credential, clientOf, keepCredential, lastKind } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'

/** SignInPage accepts an e-mail with a password, an API key, or an invitation. */
export function SignInPage() {
  const params = useSearch({ from: '/sign-in' })
  const { back } = params
  const queries = useQueryClient()
  const [way, setWay] = useState<Way>(params.way ?? (lastKind() === 'token' ? 'password' : 'key'))
  const [isKept, setKept] = useState(false)
  const [failed, setFailed] = useState<{ text: string; id: string | undefined }>()
  const [isBusy, setBusy] = useState(false)

  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    setBusy(true)
    setFailed(undefined)
    try {
      const credential = await credentialOf(way, given)
      keepCredential(credential, isKept)
      queries.clear()
      // A full load, so that nothing of whoever was here before stays in the page.
      location.assign(back && back !== EXPLORE ? back : (await isFirst(credential)) ? '/app/welcome' : EXPLORE)
    } catch (thrown) {
      setFailed({
        text: wrongText(thrown, way),
        id: thrown instanceof ApiFailure && thrown.status >= 500 ? thrown.correlation_id : undefined,
      })
      setBusy(false)
    }
  }
  const field = 'h-9 w-full rounded border border-line bg-ground px-2'
  return (
    <main className="grid min-h-full place-items-center p-4">
      <form onSubmit={send} className="flex w-80 max-w-full flex-col gap-3 rounded-lg border border-line bg-panel p-6">
        <img src="/docs/icon.svg" alt="" width="40" height="40" />
        <h1 className="font-semibold text-lg">Sign in to Dendro</h1>
        <fieldset className="flex gap-1" aria-label="How to sign in">
          {ways.map(([one, name]) => (
            <Button key={one} look={way === one ? 'chosen' : 'quiet'} aria-pressed={way === one} onClick={() => setWay(one)}>
              {name}
            </Button>
          ))}
        </fieldset>
        {way === 'key' ? (
          <label className="flex flex-col gap-1">
            API key
            <input key="key" name="key" type="password" autoComplete="off" required className={`${field} font-mono`} placeholder="dk_…" />
            <span className="text-soft text-xs">The first one was printed when the service was started for the first time.</span>
          </label>
        ) : way === 'invitation' ? (
          <>
            <label className="flex flex-col gap-1">
              Invitation
              <input
                key="invitation"
                name="invitation"
                autoComplete="off"
                required
                className={`${field} font-mono`}
                placeholder="the link you were given"
              />
            </label>
            <label className="flex flex-col gap-1">
              New password
              <input
                name="new_password"
                type="password"
                autoComplete="new-password"
                required
                minLength={12}
                maxLength={128}
                className={field}
              />
              <span className="text-soft text-xs">12 characters or more; a sentence of your own is a good one.</span>
            </label>
          </>
        ) : (
          <>
            <label className="flex flex-col gap-1">
              E-mail
              <input key="email" name="email" type="email" autoComplete="username" required className={field} />
            </label>
            <label className="flex flex-col gap-1">
              Password
              <input name="password" type="password" autoComplete="current-password" required className={field} />
            </label>
          </>
        )}
        <label className="flex items-center gap-2 text-soft">
          <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.target.checked)} /> Stay signed in on this computer
        </label>
        {failed && (
          <p role="alert" className="text-error">
            {failed.text}
            {failed.id && <span className="block break-all font-mono text-xs">{failed.id}</span>}
          </p>
        )}
        <Button type="submit" look="main" className="justify-center" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </main>
  )
}

/** EXPLORE is the default destination. */
const EXPLORE = '/app/explore'

type Way = 'key' | 'password' | 'invitation'
const ways: readonly (readonly [Way, string])[] = [
  ['key', 'Key'],
  ['password', 'Password'],
  ['invitation', 'Invitation'],
]
const wrongs: Record<Way, string> = {
  key: 'This key is not known, or has ended.',
  password: 'E-mail or password are not right.',
  invitation: 'This invitation is not known, or was used already.',
}

function wrongText(thrown: unknown, way: Way): string {
  if (thrown instanceof NoResponse) return 'The service does not answer just now. Try again in a moment.'
  if (!(thrown instanceof ApiFailure)) return String(thrown)
  if (thrown.status === 401) return wrongs[way]
  if (thrown.status === 429) return 'Too many tries. Wait a moment and try again.'
  return `${thrown.details.charAt(0).toUpperCase()}${thrown.details.slice(1)}.`
}

async function credentialOf(way: Way, given: FormData): Promise<Credential> {
  const text = (name: string) => String(given.get(name) ?? '')
  if (way === 'password') {
    const { token } = await clientOf(undefined).auth.login({ body: { email: text('email').trim(), password: text('password') } })
    return { kind: 'token', text: token }
  }
  if (way === 'invitation') {
    const link = text('invitation').trim()
    const invitation = /[?&]token=([\w-]+)/.exec(link)?.[1] ?? link
    const { token } = await clientOf(undefined).auth.acceptInvite({ body: { token: invitation, password: text('new_password') } })
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
    return (await clientOf(credential).users.list()).users.every(({ status }) => status !== 'ACTIVE')
  } catch {
    // A key that may not see the people is not the first one.
    return false
  }
}
