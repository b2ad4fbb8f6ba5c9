import { useEffect, useRef } from 'react'

/** Binds single keys, by lower-case name or by `shift` and the letter. Shortcuts are off while the user types or a dialog is open. */
export function useShortcuts(actions: Record<string, () => unknown>): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : undefined
      const isTyping = target?.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null
      const isButtonPress = event.key === 'Enter' && target?.closest('button, a, summary') !== null
      const action =
        latest.current[event.key.toLowerCase() === event.key ? event.key : `shift ${event.key.toLowerCase()}`] ??
        latest.current[event.key.toLowerCase()]
      if (!action || isTyping || isButtonPress || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** Handles Ctrl-F while the event list or its find bar has the focus. Elsewhere the browser handles it. */
export function useFindShortcut(openFind: () => void): void {
  const latest = useRef(openFind)
  latest.current = openFind
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'f') return
      if (!document.activeElement?.closest('section[aria-label="Events"], search')) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** The field and value with the focus, or else under the pointer. */
export function valueAtPointer(): { name: string; value: string } | undefined {
  const focused = document.activeElement?.closest<HTMLElement>('[data-value]')
  const { name, value } = (focused ?? document.querySelector<HTMLElement>('[data-value]:hover'))?.dataset ?? {}
  return name !== undefined && value !== undefined ? { name, value } : undefined
}
