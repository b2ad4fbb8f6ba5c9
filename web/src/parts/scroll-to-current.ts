import { type RefObject, useEffect, useRef } from 'react'

/** useCurrentShown keeps the link to the page that is open in sight, in a row of links that is scrolled where there is no room for all. */
export function useCurrentShown(current: string): RefObject<HTMLElement | null> {
  const row = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: which link it is changes with what is open
  useEffect(() => {
    row.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  return row
}
