import { ApiFailure } from '@dendro/api/client'
import { useQuery } from '@tanstack/react-query'
import { finishSignOn } from '../../session/single-sign-on.ts'
import { Button } from '../../ui/button.tsx'
import { AccountForm } from './account-form.tsx'

/** SignOnReturn is where an identity provider sends the browser back to. */
export function SignOnReturn({ answer }: { answer: string }) {
  const { error } = useQuery({ queryKey: ['sign-on', answer], queryFn: () => finishSignOn(answer), staleTime: Number.POSITIVE_INFINITY })
  const again = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    location.assign('/app/sign-in')
  }
  return (
    <AccountForm title="Sign in to Dendro" onSubmit={again}>
      {error ? (
        <>
          <p role="alert" className="text-error">
            {problemText(error)}
          </p>
          <Button type="submit" variant="main" className="justify-center">
            Back to sign-in
          </Button>
        </>
      ) : (
        <p role="status">Signing in…</p>
      )}
    </AccountForm>
  )
}

const problemText = (thrown: unknown): string =>
  thrown instanceof ApiFailure
    ? `${thrown.details.charAt(0).toUpperCase()}${thrown.details.slice(1)}.`
    : 'The service did not answer. Try again in a moment.'
