import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Input } from '../../ui/field.tsx'
import { menuItem } from '../../ui/menu-item.ts'
import { Popover } from '../../ui/popover.tsx'
import { FailureNote } from '../shell/failure.tsx'
import { MorePages } from './pages.tsx'

type SearchedList = Parameters<typeof MorePages>[0]['of'] & {
  readonly error: unknown
  readonly isLoading: boolean
  readonly isPlaceholderData: boolean
  refetch(): unknown
}

type SearchSelectProps = {
  /** The name of the field. */
  name: string
  /** Names one record. */
  noun: string
  /** The name of the selected record. */
  selected: string
  /** Values with their labels, as far as they are loaded. */
  options: readonly (readonly [string, string])[]
  /** The list that the options are of. */
  of: SearchedList
  find: string
  onFind(words: string): void
  onPick(value: string): void
  className?: string
}

/** Selects one record of a list that is too long for a select: the options are found by a search. */
export function SearchSelect({ name, noun, selected, options, of, find, onFind, onPick, className = '' }: SearchSelectProps) {
  const [isOpen, setOpen] = useState(false)
  const pick = (value: string) => {
    setOpen(false)
    onPick(value)
  }
  return (
    <Popover
      label={`Select a ${noun}`}
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button aria-label={`${name}: ${selected}`} className={`w-full justify-between ${className}`}>
          <span className="truncate">{selected}</span> <Caret />
        </Button>
      }
    >
      <div className="flex w-80 max-w-full flex-col gap-2">
        <Input placeholder={`Find a ${noun}`} aria-label={`Find a ${noun}`} value={find} onChange={({ target }) => onFind(target.value)} />
        {of.error ? <FailureNote thrown={of.error} again={() => of.refetch()} isSmall /> : null}
        <div className="max-h-72 overflow-auto">
          <ul aria-busy={of.isPlaceholderData}>
            {options.map(([value, label]) => (
              <li key={value}>
                <button type="button" className={menuItem} onClick={() => pick(value)}>
                  <span className="truncate">{label}</span>
                </button>
              </li>
            ))}
            {of.isLoading && <li className="px-2 text-soft">Loading…</li>}
            {!of.isLoading && options.length === 0 && <li className="px-2 text-soft">No {noun} matches.</li>}
          </ul>
          <MorePages of={of} />
        </div>
      </div>
    </Popover>
  )
}
