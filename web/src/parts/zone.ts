import { useState } from 'react'
import type { Zone } from './time-range.ts'

const KEY = 'dendro.zone'

/** useZone is the zone in which times are shown, stored in the browser. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setKept] = useState<Zone>(() => (localStorage.getItem(KEY) === 'local' ? 'local' : 'utc'))
  const keep = (next: Zone) => {
    localStorage.setItem(KEY, next)
    setKept(next)
  }
  return [zone, keep]
}
