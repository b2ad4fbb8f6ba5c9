import type { Permission } from '@dendro/api'
import type { FormEvent, ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { FailureNote, HoldsInput } from '../shell/failure.tsx'
import { Page, panelColumns } from '../shell/page.tsx'
import { useLacks } from '../shell/permitted.tsx'

type EditorPageProps = {
  title: string
  /** Links to the page above this one, as the page does while its record loads. */
  back: ReactNode
  /** The label of the submit button. */
  action: string
  /** The permission to save; without it the form is read-only and says so. */
  needs: Permission
  /** missing is what prevents saving; undefined when the form is complete. */
  missing: string | undefined
  isSending: boolean
  failure: unknown
  /** Links away without saving. */
  cancel: ReactNode
  /** preview stays visible beside the form. */
  preview?: ReactNode
  onSend(): void
  children: ReactNode
}

/** A form on a page of its own, with an optional preview beside it; without one its panels stand in columns. */
export function EditorPage(props: EditorPageProps) {
  const { title, back, action, needs, missing, isSending, failure, cancel, preview, onSend, children } = props
  const isReadOnly = useLacks()(needs)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (missing === undefined && !isReadOnly) onSend()
  }
  return (
    <Page title={title} back={back}>
      <form aria-label={action} onSubmit={send} className={`grid items-start gap-4 ${preview ? 'xl:grid-cols-2' : ''}`}>
        <div className={`min-w-0 ${preview ? 'flex flex-col gap-4' : panelColumns}`}>
          {isReadOnly ? (
            <>
              <p role="note" className="rounded border border-line bg-sunk p-3">
                You can read this, not save it: that needs the permission {needs}.
              </p>
              <fieldset disabled className="contents">
                {children}
              </fieldset>
            </>
          ) : (
            children
          )}
          {failure ? (
            <HoldsInput value>
              <FailureNote thrown={failure} />
            </HoldsInput>
          ) : null}
          <div className="flex flex-wrap items-center gap-2">
            {!isReadOnly && (
              <Button type="submit" variant="main" disabled={missing !== undefined || isSending}>
                {isSending ? 'Saving…' : action}
              </Button>
            )}
            <span className="px-2 text-accent hover:underline">{cancel}</span>
            {missing !== undefined && !isReadOnly && <span className="text-soft text-xs">Missing: {missing}.</span>}
          </div>
        </div>
        {preview && <div className="min-w-0 xl:sticky xl:top-4">{preview}</div>}
      </form>
    </Page>
  )
}
