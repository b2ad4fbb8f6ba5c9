import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { EmptyState } from '../shell/page.tsx'
import { hasWords } from './has-words.ts'
import { Loaded, type QueryState } from './records.tsx'

type FilteredListProps<T> = {
  /** Names one item. */
  noun: string
  of: QueryState<readonly T[]>
  /** Replaces an empty list. */
  none: ReactNode
  textOf(one: T): string
  children(found: readonly T[]): ReactNode
}

/** A list with a text filter. */
export function FilteredList<T>({ noun, of, none, textOf, children }: FilteredListProps<T>) {
  const [filterText, setFilterText] = useState('')
  return (
    <Loaded of={of}>
      {(all) => {
        const found = all.filter((one) => hasWords(textOf(one), filterText))
        const find = `Find a ${noun}`
        if (all.length === 0) return none
        return (
          <>
            <Input
              className="sm:max-w-64"
              placeholder={find}
              aria-label={find}
              value={filterText}
              onChange={(event) => setFilterText(event.target.value)}
            />
            {found.length === 0 ? (
              <EmptyState title={`No ${noun} matches`}>
                <Button onClick={() => setFilterText('')}>Show all</Button>
              </EmptyState>
            ) : (
              children(found)
            )}
          </>
        )
      }}
    </Loaded>
  )
}
