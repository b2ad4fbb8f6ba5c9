import { FormField } from '../../parts/records/form.tsx'
import { Input } from '../../ui/field.tsx'
import { STORED_SECRET } from './filled.ts'

type SecretFieldProps = { name: string; of: string; value: string; className?: string; onChange(value: string): void }

/** Edits a secret. A stored one is never shown, and stays while the field keeps its placeholder. */
export const SecretField = ({ name, of, value, className, onChange }: SecretFieldProps) => (
  <FormField
    name={name}
    of={of}
    {...(className === undefined ? {} : { className })}
    help={value === STORED_SECRET ? 'Stored; type another one to replace it.' : undefined}
  >
    <Input
      type="password"
      value={value}
      maxLength={1024}
      autoComplete="new-password"
      onFocus={({ target }) => target.select()}
      onChange={({ target }) => onChange(target.value)}
    />
  </FormField>
)
