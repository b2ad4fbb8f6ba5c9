import { ApiFailure, NoResponse } from '@dendro/api/client'
import { Link, useLocation } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { awaitSignIn } from '../../session/other-tabs.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CopyButton } from './copy-button.tsx'

type FailureNoteProps = {
  thrown: unknown
  again?: (() => unknown) | undefined
  /** Names what could not be loaded, in the plural, where several parts of a page may fail at once. */
  what?: string
  /** note is shown below the error, such as which older data is still visible. */
  note?: ReactNode
  /** isSmall has no frame, for parts of a page that may all fail at once. */
  isSmall?: boolean
}

/** Shows an error with its correlation id and, if it can help, a retry. */
export function FailureNote({ thrown, again, what, note, isSmall = false }: FailureNoteProps) {
  const id = thrown instanceof ApiFailure ? thrown.correlation_id : undefined
  const size = isSmall ? 'small' : 'normal'
  return (
    <div role="alert" className={isSmall ? 'p-2' : 'm-3 rounded-md border border-error/50 bg-panel p-3'}>
      <p className="font-medium text-error">{titleOf(thrown, what)}</p>
      <p className={`break-words ${isServiceFault(thrown) ? 'first-letter:uppercase' : ''} ${isSmall ? '' : 'mt-1'}`}>
        {thrown instanceof Error ? thrown.message : String(thrown)}
      </p>
      {note && <p className={`break-words ${isSmall ? '' : 'mt-1'}`}>{note}</p>}
      {id && !isSmall && isServiceFault(thrown) && (
        <p className="mt-1 text-soft text-sm">
          If it fails again, send the request id to your administrator: the log of the service has the cause.
        </p>
      )}
      <div className={`flex items-center gap-2 ${isSmall ? 'mt-1' : 'mt-2 flex-wrap'}`}>
        {again && canRetry(thrown) && (
          <Button onClick={() => again()} variant={isSmall ? 'plain' : 'main'} size={size}>
            Try again
          </Button>
        )}
        {isSignedOut(thrown) && <SignInAgain size={size} />}
        {id && (
          <CopyButton
            text={id}
            size={size}
            title="Copy the request id, to find the request in the log of the service"
            className="min-w-0 max-w-full shrink!"
            before={
              <>
                {!isSmall && <span className="text-soft text-xs max-sm:hidden">Request id</span>}
                <span className="min-w-0 truncate font-mono text-xs">{id}</span>
              </>
            }
          >
            Copy
          </CopyButton>
        )}
      </div>
    </div>
  )
}

const isSignedOut = (thrown: unknown): boolean => thrown instanceof ApiFailure && thrown.status === 401

/** True within forms, whose input a new page would lose. */
export const HoldsInput = createContext(false)

/** Leads back to this page; from a form to another tab, after which the form can be sent again. */
function SignInAgain({ size }: { size: 'small' | 'normal' }) {
  const { href } = useLocation()
  const holdsInput = useContext(HoldsInput)
  useEffect(() => (holdsInput ? awaitSignIn() : undefined), [holdsInput])
  if (holdsInput) {
    return (
      <Link to="/sign-in" search={{ back: '/app/explore' }} target="_blank" className={buttonClass({ size })}>
        Sign in in a new tab
      </Link>
    )
  }
  return (
    <Link to="/sign-in" search={{ back: `/app${href}` }} className={buttonClass({ size })}>
      Sign in
    </Link>
  )
}

/** True when a retry can help: a rejected request stays rejected. */
export const canRetry = (thrown: unknown): boolean => !(thrown instanceof ApiFailure) || thrown.status >= 500 || thrown.status === 429

/** The service could not do what it should; its sentences begin with a small letter, where those of a rejected request may begin with a field. */
const isServiceFault = (thrown: unknown): boolean => thrown instanceof ApiFailure && thrown.status >= 500

function titleOf(thrown: unknown, what: string | undefined): string {
  if (thrown instanceof NoResponse) return 'The service did not answer'
  if (!(thrown instanceof ApiFailure)) return 'This page has failed'
  if (thrown.status === 403) return 'You do not have permission'
  if (thrown.status === 404) return 'Not found, or deleted'
  if (isSignedOut(thrown)) return 'Your session has ended'
  if (isServiceFault(thrown)) return what === undefined ? 'The service failed' : `${what} could not be loaded`
  return 'The request was rejected'
}
