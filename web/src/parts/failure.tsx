import { ApiFailure, NoResponse } from '@dendro/api/client'
import { Button } from '../ui/button.tsx'
import { copyText } from './copy.ts'

type FailureNoteProps = {
  thrown: unknown
  again?: (() => unknown) | undefined
  /** isSmall has no frame, for parts of a page that may all fail at once. */
  isSmall?: boolean
}

/** FailureNote shows an error with its correlation id and, if it can help, a retry. */
export function FailureNote({ thrown, again, isSmall = false }: FailureNoteProps) {
  const id = thrown instanceof ApiFailure ? thrown.correlation_id : undefined
  const size = isSmall ? 'small' : 'normal'
  return (
    <div role="alert" className={isSmall ? 'p-2' : 'm-3 rounded-md border border-error/50 bg-panel p-3'}>
      <p className="font-medium text-error">{titleOf(thrown)}</p>
      <p className={`break-words ${isSmall ? '' : 'mt-1'}`}>{thrown instanceof Error ? thrown.message : String(thrown)}</p>
      <div className={`flex flex-wrap items-center gap-2 ${isSmall ? 'mt-1' : 'mt-2'}`}>
        {again && mayPass(thrown) && (
          <Button onClick={() => again()} look={isSmall ? 'plain' : 'main'} size={size}>
            Try again
          </Button>
        )}
        {id && (
          <Button onClick={() => copyText(id)} size={size} title="Copy the id of this request" className="max-w-full">
            <span className="truncate font-mono text-xs">{id}</span> copy
          </Button>
        )}
      </div>
    </div>
  )
}

/** A rejected request stays rejected. */
const mayPass = (thrown: unknown): boolean => !(thrown instanceof ApiFailure) || thrown.status >= 500 || thrown.status === 429

function titleOf(thrown: unknown): string {
  if (thrown instanceof NoResponse) return 'The service did not answer'
  if (!(thrown instanceof ApiFailure)) return 'Something went wrong in this page'
  if (thrown.status === 403) return 'You may not do this'
  if (thrown.status === 404) return 'This is not there, or no longer'
  if (thrown.status === 401) return 'You are no longer signed in'
  if (thrown.status >= 500) return 'The service could not answer'
  return 'The service did not take this'
}
