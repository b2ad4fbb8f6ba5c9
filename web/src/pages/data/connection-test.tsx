import { useMutation } from '@tanstack/react-query'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { STORED_SECRET } from './filled.ts'

type ConnectionTestProps<Body> = {
  action: string
  /** The text of a test that has succeeded. */
  success: string
  body: Body
  isReady: boolean
  send(body: Body): Promise<{ result: boolean; failure_reason?: string | undefined }>
}

/** Tests a destination or an origin as it is in the form, and gives the reason of a failure. */
export function ConnectionTest<Body>({ action, success, body, isReady, send }: ConnectionTestProps<Body>) {
  const test = useMutation({ mutationFn: async (tested: Body) => ({ tested: JSON.stringify(tested), ...(await send(tested)) }) })
  const text = JSON.stringify(body)
  const isMasked = text.includes(`"${STORED_SECRET}"`)
  // A result of other values says nothing about these.
  const result = test.data?.tested === text ? test.data : undefined
  const failure = JSON.stringify(test.variables) === text ? test.error : null
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <Button disabled={!isReady || isMasked || test.isPending} onClick={() => test.mutate(body)}>
          {test.isPending ? 'Testing…' : action}
        </Button>
        <span role="status" className="min-w-0 wrap-anywhere">
          {result?.result === true && (
            <span className="text-accent">
              <Icon of={CircleCheck} size="small" /> {success}
            </span>
          )}
          {result?.result === false && (
            <span className="text-error">
              <Icon of={CircleAlert} size="small" /> {result.failure_reason ?? 'It could not be used.'}
            </span>
          )}
        </span>
      </div>
      {isMasked && <p className="text-soft text-xs">To test, type the secret again: a stored one cannot be read.</p>}
      {failure && <FailureNote thrown={failure} isSmall />}
    </div>
  )
}
