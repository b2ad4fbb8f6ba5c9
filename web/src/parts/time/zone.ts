import { useSyncExternalStore } from 'react'
import type { Zone } from './time-range.ts'

const KEY = 'dendro.zone'
const listeners = new Set<() => void>()

const storedZone = (): Zone => (localStorage.getItem(KEY) === 'local' ? 'local' : 'utc')

function storeZone(next: Zone): void {
  localStorage.setItem(KEY, next)
  for (const listener of listeners) listener()
}

function onZone(listener: () => void): () => void {
  listeners.add(listener)
  // Another tab may change it.
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

/** The zone in which times are shown, stored in the browser; all parts of a page and all tabs have the same. */
export function useZone(): [Zone, (zone: Zone) => void] {
  return [useSyncExternalStore(onZone, storedZone), storeZone]
}
