import { type FormEvent, useState } from 'react'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'

type Named = { name: string; description: string }
type RenameFormProps = Named & { onSave(named: Named): Promise<unknown>; onEnd(): void }

/** Changes the name and the description of a notebook. */
export function RenameForm({ name, description, onSave, onEnd }: RenameFormProps) {
  const [failure, setFailure] = useState<unknown>()
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const named = { name: String(form.get('name') ?? '').trim(), description: String(form.get('description') ?? '').trim() }
    if (named.name !== '') onSave(named).then(onEnd, setFailure)
  }
  return (
    <form aria-label="Rename" onSubmit={send} className="flex w-80 max-w-full flex-col gap-2">
      <Field name="Name">
        <Input name="name" required maxLength={255} defaultValue={name} />
      </Field>
      <Field name="Description">
        <TextArea name="description" maxLength={1_024} rows={3} defaultValue={description} />
      </Field>
      {failure !== undefined && <FailureNote thrown={failure} isSmall />}
      <Button type="submit" variant="main">
        Save
      </Button>
    </form>
  )
}
