import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { EmptyState } from '../shell/page.tsx'
import { MorePages } from './pages.tsx'
import { Loaded, type QueryState } from './records.tsx'

type SearchedListProps<T> = {
  /** Names one record. */
  noun: string
  of: QueryState<unknown> &
    Parameters<typeof MorePages>[0]['of'] & {
      readonly records: readonly T[]
      readonly isWhole: boolean
      readonly isPlaceholderData: boolean
    }
  find: string
  onFind(words: string): void
  /** Replaces an empty list. */
  none: ReactNode
  children(found: readonly T[]): ReactNode
}

/** A list that is read page by page, with a search by the service. */
export function SearchedList<T>({ noun, of, find, onFind, none, children }: SearchedListProps<T>) {
  const label = `Find a ${noun}`
  return (
    <Loaded of={of}>
      {() =>
        of.isWhole && of.records.length === 0 && find === '' ? (
          none
        ) : (
          <>
            <Input
              className="sm:max-w-64"
              placeholder={label}
              aria-label={label}
              value={find}
              onChange={({ target }) => onFind(target.value)}
            />
            <div aria-busy={of.isPlaceholderData} className="flex flex-col gap-3">
              {of.records.length === 0 ? (
                <EmptyState title={`No ${noun} matches`}>
                  <Button onClick={() => onFind('')}>Show all</Button>
                </EmptyState>
              ) : (
                children(of.records)
              )}
              <MorePages of={of} />
            </div>
          </>
        )
      }
    </Loaded>
  )
}
