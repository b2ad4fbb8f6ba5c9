import type { ReactNode } from 'react'

type FilterRowProps = { label: string; children: ReactNode }

/** Holds the filters of a list, each ending with its count: side by side, on a phone in framed columns, so that no count stands at the next filter. */
export const FilterRow = ({ label, children }: FilterRowProps) => (
  <fieldset
    aria-label={label}
    className="flex flex-wrap gap-1 max-sm:grid max-sm:w-full max-sm:grid-cols-[repeat(auto-fill,minmax(8.5rem,1fr))] max-sm:gap-2 max-sm:*:border max-sm:*:border-line max-sm:[&>*>:last-child]:ml-auto"
  >
    {children}
  </fieldset>
)
