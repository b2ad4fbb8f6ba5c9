import { useState } from 'react'
import type { Zone } from './time-range.ts'

const KEY = 'dendro.zone'

/** useZone is in which zone this person reads times, and how to change it. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setKept] = useState<Zone>(() => (localStorage.getItem(KEY) === 'local' ? 'local' : 'utc'))
  const keep = (next: Zone) => {
    localStorage.setItem(KEY, next)
    setKept(next)
  }
  return [zone, keep]
}
