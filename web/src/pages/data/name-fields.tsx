import { FormField } from '../../parts/records/form.tsx'
import { Input, TextArea } from '../../ui/field.tsx'

type NameFieldsProps = { draft: Named; nameMax?: number; onChange(change: Partial<Named>): void }
type Named = { readonly name: string; readonly description: string }

/** Edits the name of a record and what it is for. */
export const NameFields = ({ draft, nameMax = 255, onChange }: NameFieldsProps) => (
  <>
    <FormField name="Name" of="name">
      <Input value={draft.name} maxLength={nameMax} required onChange={({ target }) => onChange({ name: target.value })} />
    </FormField>
    <FormField name="Description" of="description">
      <TextArea value={draft.description} maxLength={1_000} onChange={({ target }) => onChange({ description: target.value })} />
    </FormField>
  </>
)
