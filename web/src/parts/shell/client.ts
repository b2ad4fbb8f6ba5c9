import { useMemo } from 'react'
import { clientOf, type DendroClient, keptCredential } from '../../session/session.ts'

/** useClient is the API client with the credential of the user. */
export function useClient(): DendroClient {
  return useMemo(() => clientOf(keptCredential()), [])
}
