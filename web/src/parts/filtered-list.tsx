import { type ReactNode, useState } from 'react'
import { Input } from '../ui/field.tsx'
import { hasWords } from './has-words.ts'
import { Nothing } from './page.tsx'
import { Answer, type Read } from './records.tsx'

type FindableProps<T> = {
  /** noun is what one of them is. */
  noun: string
  of: Read<readonly T[]>
  /** none stands in place of the list where there is none at all. */
  none: ReactNode
  textOf(one: T): string
  children(found: readonly T[]): ReactNode
}

/** Findable is a list that is narrowed by typing. */
export function Findable<T>({ noun, of, none, textOf, children }: FindableProps<T>) {
  const [typed, setTyped] = useState('')
  return (
    <Answer of={of}>
      {(all) => {
        const found = all.filter((one) => hasWords(textOf(one), typed))
        const find = `Find a ${noun}`
        if (all.length === 0) return none
        return (
          <>
            <Input
              className="max-w-64"
              placeholder={find}
              aria-label={find}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
            {found.length === 0 ? <Nothing title={`No ${noun} is like this`} /> : children(found)}
          </>
        )
      }}
    </Answer>
  )
}
