import type { FormEvent, ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { FailureNote } from './failure.tsx'
import { Page } from './page.tsx'

type WritingProps = {
  title: string
  /** action is what sending does, in the words of its button. */
  action: string
  /** missing is what it still needs; undefined when it is whole and can be sent. */
  missing: string | undefined
  isSending: boolean
  failure: unknown
  /** leave leads away without sending. */
  leave: ReactNode
  /** beside is what the writing would give, and stays in sight while it goes on. */
  beside?: ReactNode
  onSend(): void
  children: ReactNode
}

/** Writing is a page on which something is written: its parts, what is missing, and beside them what it would give. */
export function Writing({ title, action, missing, isSending, failure, leave, beside, onSend, children }: WritingProps) {
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (missing === undefined) onSend()
  }
  return (
    <Page title={title} isWide>
      <form onSubmit={send} className={`grid items-start gap-4 ${beside ? 'xl:grid-cols-2' : 'max-w-3xl'}`}>
        <div className="flex min-w-0 flex-col gap-4">
          {children}
          {failure ? <FailureNote thrown={failure} /> : null}
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" look="main" disabled={missing !== undefined || isSending}>
              {isSending ? 'Saving …' : action}
            </Button>
            <span className="px-2 text-accent hover:underline">{leave}</span>
            {missing !== undefined && <span className="text-soft text-xs">It still needs {missing}.</span>}
          </div>
        </div>
        {beside && <div className="min-w-0 xl:sticky xl:top-4">{beside}</div>}
      </form>
    </Page>
  )
}
