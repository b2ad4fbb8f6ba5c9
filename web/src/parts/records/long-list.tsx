import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { count } from '../chart/numbers.ts'

/** useShown pages a long list; `more` is the button for the next page, if any. */
export function useShown<T>(all: readonly T[], partMax: number): { shown: readonly T[]; more: ReactNode } {
  const [max, setMax] = useState(partMax)
  const rest = all.length - max
  const more = rest > 0 && (
    <p className="p-2 text-center">
      <Button size="small" onClick={() => setMax(max + partMax)}>
        Show {count(Math.min(rest, partMax))} more of {count(rest)}
      </Button>
    </p>
  )
  return { shown: all.slice(0, max), more }
}

/** Marks a list that the service truncated. */
export const TruncationNote = ({ children }: { children: ReactNode }) => (
  <p className="px-3 py-2 text-center text-soft text-xs">{children}</p>
)
