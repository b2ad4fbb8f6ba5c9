import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { useSave } from '../records/save.ts'
import { FailureNote } from '../shell/failure.tsx'

type SaveAsTemplateProps = {
  /** The name of the record to save. */
  name: string
  /** The kinds of templates that saving creates. */
  kinds: readonly ('dashboard' | 'widget' | 'metric' | 'monitor')[]
  onSave(name: string): Promise<unknown>
  /** children are shown after success. */
  children: ReactNode
}

/** The form that saves a record as a template. */
export function SaveAsTemplate({ name: first, kinds, onSave, children }: SaveAsTemplateProps) {
  const [name, setName] = useState(first)
  const save = useSave(() => onSave(name.trim()), { stale: kinds.map((kind) => [`${kind} templates`]) })
  const send = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form aria-label="Save as template" onSubmit={send} className="flex w-72 max-w-full flex-col gap-2">
      <Field name="Name of the template">
        <Input value={name} required maxLength={255} onChange={(event) => setName(event.target.value)} />
      </Field>
      {save.isSuccess ? (
        <p role="status">{children}</p>
      ) : (
        <Button type="submit" variant="main" disabled={save.isPending || name.trim() === ''}>
          {save.isPending ? 'Saving…' : 'Save'}
        </Button>
      )}
      {save.error && <FailureNote thrown={save.error} />}
    </form>
  )
}
