import { ApiFailure, NoResponse } from '@dendro/api/client'
import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CopyButton } from './copy-button.tsx'

type FailureNoteProps = {
  thrown: unknown
  again?: (() => unknown) | undefined
  /** note is shown below the error, such as which older data is still visible. */
  note?: ReactNode
  /** isSmall has no frame, for parts of a page that may all fail at once. */
  isSmall?: boolean
}

/** Shows an error with its correlation id and, if it can help, a retry. */
export function FailureNote({ thrown, again, note, isSmall = false }: FailureNoteProps) {
  const id = thrown instanceof ApiFailure ? thrown.correlation_id : undefined
  const size = isSmall ? 'small' : 'normal'
  return (
    <div role="alert" className={isSmall ? 'p-2' : 'm-3 rounded-md border border-error/50 bg-panel p-3'}>
      <p className="font-medium text-error">{titleOf(thrown)}</p>
      <p className={`break-words ${isSmall ? '' : 'mt-1'}`}>{thrown instanceof Error ? thrown.message : String(thrown)}</p>
      {note && <p className={`break-words ${isSmall ? '' : 'mt-1'}`}>{note}</p>}
      <div className={`flex flex-wrap items-center gap-2 ${isSmall ? 'mt-1' : 'mt-2'}`}>
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
            className="max-w-full"
            before={<span className="truncate font-mono text-xs">{id}</span>}
          >
            Copy
          </CopyButton>
        )}
      </div>
    </div>
  )
}

const isSignedOut = (thrown: unknown): boolean => thrown instanceof ApiFailure && thrown.status === 401

/** Leads back to this page. */
function SignInAgain({ size }: { size: 'small' | 'normal' }) {
  const { href } = useLocation()
  return (
    <Link to="/sign-in" search={{ back: `/app${href}` }} className={buttonClass({ size })}>
      Sign in
    </Link>
  )
}

/** True when a retry can help: a rejected request stays rejected. */
export const canRetry = (thrown: unknown): boolean => !(thrown instanceof ApiFailure) || thrown.status >= 500 || thrown.status === 429

function titleOf(thrown: unknown): string {
  if (thrown instanceof NoResponse) return 'The service did not answer'
  if (!(thrown instanceof ApiFailure)) return 'This page has failed'
  if (thrown.status === 403) return 'You do not have permission'
  if (thrown.status === 404) return 'Not found, or deleted'
  if (isSignedOut(thrown)) return 'Your session has ended'
  if (thrown.status >= 500) return 'The service failed'
  return 'The request was rejected'
}
