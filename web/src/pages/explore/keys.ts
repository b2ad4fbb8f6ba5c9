import { useEffect, useRef } from 'react'

/** useKeys binds single keys, by their names in small letters, while nobody is typing and no dialog is open. */
export function useKeys(keys: Record<string, () => unknown>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : undefined
      const isTaken = target?.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null
      const isPressed = event.key === 'Enter' && target?.closest('button, a, summary') !== null
      const act = latest.current[event.key.toLowerCase()]
      if (!act || isTaken || isPressed || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
