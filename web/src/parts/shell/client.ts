import { useMemo } from 'react'
import { clientOf, type DendroClient, keptCredential } from '../../session/session.ts'

/** The API client with the credential of the user. */
export function useClient(): DendroClient {
  return useMemo(() => clientOf(keptCredential()), [])
}
