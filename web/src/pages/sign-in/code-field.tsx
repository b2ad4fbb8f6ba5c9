import { ApiFailure } from '@dendro/api/client'
import { Field, Input } from '../../ui/field.tsx'

/** CodeField is shown once the service has asked for a code of the second factor; the form was sent, and this is what it lacks. */
export const CodeField = () => (
  <Field name="Code" help="From your authenticator app, or a recovery code.">
    <Input name="code" autoComplete="one-time-code" required autoFocus maxLength={40} className="font-mono" />
  </Field>
)

const codesOf = (thrown: unknown): string[] => (thrown instanceof ApiFailure ? (thrown.errors ?? []).map(({ code }) => code) : [])

/** asksForCode is true when everything else of the form was right. */
export const asksForCode = (thrown: unknown): boolean => codesOf(thrown).includes('SECOND_FACTOR_REQUIRED')

export const isWrongCode = (thrown: unknown): boolean => codesOf(thrown).includes('SECOND_FACTOR_WRONG')
export const WRONG_CODE = 'The code is wrong, or was used before.'
