import { useMemo } from 'react'
import { clientOf, type DendroClient, keptCredential } from '../session/session.ts'

/** useClient is the client of whoever is signed in. */
export function useClient(): DendroClient {
  return useMemo(() => clientOf(keptCredential()), [])
}
