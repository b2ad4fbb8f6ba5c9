import { announceSignIn } from './other-tabs.ts'
import { clientOf, keepCredential } from './session.ts'

const KEY = 'dendro.sign-on'
let answer: string | undefined

/** Keeps the answer of an identity provider in memory. */
export function takeSignOnAnswer({ pathname, search, searchParams }: URL): boolean {
  if (pathname !== '/app/sign-in' || !searchParams.has('state') || !(searchParams.has('code') || searchParams.has('error'))) return false
  answer = search
  return true
}

export const signOnAnswer = (): string | undefined => answer

type Wish = { back: string; isRemembered: boolean }

/** beginSignOn leaves for the identity provider. What the user wished stays in this tab. */
export async function beginSignOn(provider: string, wish: Wish): Promise<void> {
  const { url } = await clientOf(undefined).signOn.start({ body: { provider } })
  sessionStorage.setItem(KEY, JSON.stringify(wish))
  location.assign(url)
}

/** Signs in with the answer of the identity provider. */
export async function finishSignOn(given: string): Promise<null> {
  const { token } = await clientOf(undefined).signOn.finish({ body: { answer: given } })
  const wish: Partial<Wish> = JSON.parse(sessionStorage.getItem(KEY) ?? '{}')
  sessionStorage.removeItem(KEY)
  keepCredential({ kind: 'token', text: token }, wish.isRemembered === true)
  announceSignIn({ kind: 'token', text: token })
  location.assign(wish.back ?? '/app/explore')
  return null
}
