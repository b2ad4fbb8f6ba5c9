import { type ReactNode, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { count } from './numbers.ts'

/** useShown shows a long list a part at a time; `more` stands below it while there is more, and says how much. */
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

/** NotAll stands below a list that the service ends, so that nobody takes it for all there is. */
export const NotAll = ({ children }: { children: ReactNode }) => <p className="px-3 py-2 text-center text-soft text-xs">{children}</p>
