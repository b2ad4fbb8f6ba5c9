import { ApiFailure } from '@dendro/api/client'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type Credential, clientOf, keepCredential } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'

/** SignInPage takes an e-mail with a password, or a key: after the first start there is only a key. */
export function SignInPage() {
  const { back } = useSearch({ from: '/sign-in' })
  const queries = useQueryClient()
  const [way, setWay] = useState<'password' | 'key'>('key')
  const [isKept, setKept] = useState(false)
  const [failed, setFailed] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    setBusy(true)
    setFailed(undefined)
    try {
      keepCredential(await credentialOf(way, given), isKept)
      queries.clear()
      // A full load, so that nothing of whoever was here before stays in the page.
      location.assign(back ?? '/app/explore')
    } catch (thrown) {
      const isWrong = thrown instanceof ApiFailure && thrown.status === 401
      setFailed(
        isWrong
          ? way === 'key'
            ? 'This key is not known, or has ended.'
            : 'E-mail or password are not right.'
          : String(thrown instanceof Error ? thrown.message : thrown),
      )
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
          <Button look={way === 'key' ? 'main' : 'quiet'} aria-pressed={way === 'key'} onClick={() => setWay('key')}>
            Key
          </Button>
          <Button look={way === 'password' ? 'main' : 'quiet'} aria-pressed={way === 'password'} onClick={() => setWay('password')}>
            E-mail and password
          </Button>
        </fieldset>
        {way === 'key' ? (
          <label className="flex flex-col gap-1">
            API key
            <input key="key" name="key" type="password" autoComplete="off" required className={`${field} font-mono`} placeholder="dk_…" />
            <span className="text-soft text-xs">The first one was printed when the service was started for the first time.</span>
          </label>
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
            {failed}
          </p>
        )}
        <Button type="submit" look="main" className="justify-center" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </Button>
      </form>
    </main>
  )
}

async function credentialOf(way: 'password' | 'key', given: FormData): Promise<Credential> {
  const text = (name: string) => String(given.get(name) ?? '')
  if (way === 'password') {
    const { token } = await clientOf(undefined).auth.login({ body: { email: text('email').trim(), password: text('password') } })
    return { kind: 'token', text: token }
  }
  const credential: Credential = { kind: 'key', text: text('key').trim() }
  await clientOf(credential).auth.me()
  return credential
}
