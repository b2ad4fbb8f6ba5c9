import type { ReactNode } from 'react'

type FilterRowProps = { label: string; children: ReactNode }

/** Holds the filters of a list: side by side, on a phone in columns of one width. */
export const FilterRow = ({ label, children }: FilterRowProps) => (
  <fieldset
    aria-label={label}
    className="flex flex-wrap gap-1 max-sm:grid max-sm:w-full max-sm:grid-cols-[repeat(auto-fill,minmax(6.5rem,1fr))] max-sm:*:px-1.5"
  >
    {children}
  </fieldset>
)
