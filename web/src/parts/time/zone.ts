import { useState } from 'react'
import type { Zone } from './time-range.ts'

const KEY = 'dendro.zone'

/** The zone in which times are shown, stored in the browser. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setStored] = useState<Zone>(() => (localStorage.getItem(KEY) === 'local' ? 'local' : 'utc'))
  const store = (next: Zone) => {
    localStorage.setItem(KEY, next)
    setStored(next)
  }
  return [zone, store]
}
