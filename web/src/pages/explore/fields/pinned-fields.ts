import { useState } from 'react'

const KEY = 'dendro.pinned-fields'
const PINNED_MAX = 50

function storedPins(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}

/** The names of the fields that the user keeps on top, stored in the browser. */
export function usePinnedFields(): { names: readonly string[]; toggle(name: string): void } {
  const [names, setNames] = useState(storedPins)
  const toggle = (name: string) => {
    const next = names.includes(name) ? names.filter((one) => one !== name) : [...names, name].slice(-PINNED_MAX)
    localStorage.setItem(KEY, JSON.stringify(next))
    setNames(next)
  }
  return { names, toggle }
}
