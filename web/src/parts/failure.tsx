import { ApiFailure, NoAnswer } from '@dendro/api/client'
import { Button } from '../ui/button.tsx'
import { copyText } from './copy.ts'

/** FailureNote says what failed, with what an administrator needs to find it, and how to go on. */
export function FailureNote({ thrown, again }: { thrown: unknown; again?: (() => unknown) | undefined }) {
  const id = thrown instanceof ApiFailure ? thrown.correlation_id : undefined
  return (
    <div role="alert" className="m-3 rounded-md border border-error/50 bg-panel p-3">
      <p className="font-medium text-error">{titleOf(thrown)}</p>
      <p className="mt-1 break-words">{thrown instanceof Error ? thrown.message : String(thrown)}</p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {again && mayPass(thrown) && (
          <Button onClick={() => again()} look="main">
            Try again
          </Button>
        )}
        {id && (
          <Button onClick={() => copyText(id)} title="Copy the id of this request" className="max-w-full">
            <span className="truncate font-mono text-xs">{id}</span> copy
          </Button>
        )}
      </div>
    </div>
  )
}

/** What was wrong with the question itself stays wrong. */
const mayPass = (thrown: unknown): boolean => !(thrown instanceof ApiFailure) || thrown.status >= 500 || thrown.status === 429

function titleOf(thrown: unknown): string {
  if (thrown instanceof NoAnswer) return 'The service did not answer'
  if (!(thrown instanceof ApiFailure)) return 'Something went wrong in this page'
  if (thrown.status === 403) return 'You may not do this'
  if (thrown.status === 404) return 'This is not there, or no longer'
  if (thrown.status === 401) return 'You are no longer signed in'
  if (thrown.status >= 500) return 'The service could not answer'
  return 'The service did not take this'
}
