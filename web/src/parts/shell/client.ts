import { useMemo, useSyncExternalStore } from 'react'
import { clientOf, credentialText, type DendroClient, keptCredential, onCredential } from '../../session/session.ts'

/** The API client with the credential of the user. */
export function useClient(): DendroClient {
  const text = useSyncExternalStore(onCredential, credentialText)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the credential changes with its text
  return useMemo(() => clientOf(keptCredential()), [text])
}
