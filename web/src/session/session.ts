import { routes } from 'virtual:routes'
import type { Client, contract } from '@dendro/api'
import { makeClient } from '@dendro/api/client'
import { forgetEvents } from './kept-events.ts'

/** A Credential is an API key, or the token of a login. */
export type Credential = { kind: 'key' | 'token'; text: string }
export type DendroClient = Client<typeof contract>

const KEY = 'dendro.credential'
const LAST_KIND = 'dendro.last-kind'

const listeners = new Set<() => void>()

/** onCredential calls a listener whenever another credential is kept. */
export function onCredential(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The stored form of the credential, which changes with it. */
export const credentialText = (): string | null => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)

/** keptCredential is stored for this tab, or beyond it if the user chose to stay signed in. */
export function keptCredential(): Credential | undefined {
  const text = credentialText()
  const [kind, rest] = text?.split(' ', 2) ?? []
  return rest && (kind === 'key' || kind === 'token') ? { kind, text: rest } : undefined
}

export function keepCredential({ kind, text }: Credential, isRemembered: boolean): void {
  dropCredential()
  const storage = isRemembered ? localStorage : sessionStorage
  storage.setItem(KEY, `${kind} ${text}`)
  localStorage.setItem(LAST_KIND, kind)
  for (const listener of listeners) listener()
}

/** Replaces the credential of this tab alone, and leaves what another tab stored beyond itself. */
export function keepForThisTab({ kind, text }: Credential): void {
  sessionStorage.setItem(KEY, `${kind} ${text}`)
  for (const listener of listeners) listener()
}

/** The kind of the last sign-in in this browser. */
export const lastKind = (): Credential['kind'] => (localStorage.getItem(LAST_KIND) === 'token' ? 'token' : 'key')

/** Signs out and deletes the kept events of this tab. */
export function forgetCredential(): void {
  forgetEvents()
  dropCredential()
}

function dropCredential(): void {
  sessionStorage.removeItem(KEY)
  localStorage.removeItem(KEY)
}

/** clientOf makes an API client for the service that served this page. */
export const clientOf = (credential: Credential | undefined): DendroClient =>
  makeClient(routes, {
    baseUrl: '',
    key: credential?.kind === 'key' ? credential.text : undefined,
    token: credential?.kind === 'token' ? credential.text : undefined,
  }) as DendroClient
