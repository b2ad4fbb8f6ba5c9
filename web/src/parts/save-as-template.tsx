import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Popover } from '../ui/popover.tsx'
import { FailureNote } from './failure.tsx'

type SaveAsTemplateProps = {
  /** name is the name of the record to save. */
  name: string
  /** kinds are the kinds of templates that saving creates. */
  kinds: readonly ('dashboard' | 'widget' | 'metric' | 'monitor')[]
  onKeep(name: string): Promise<unknown>
  /** children are shown after success. */
  children: ReactNode
}

/** SaveAsTemplate saves a record as a template. */
export function SaveAsTemplate({ name: first, kinds, onKeep, children }: SaveAsTemplateProps) {
  const queries = useQueryClient()
  const [name, setName] = useState(first)
  const keep = useMutation({
    mutationFn: async () => {
      await onKeep(name.trim())
      for (const kind of kinds) await queries.invalidateQueries({ queryKey: [`${kind} templates`] })
    },
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    keep.mutate()
  }
  return (
    <Popover label="Save as template" trigger={<Button>Save as template</Button>}>
      <form onSubmit={send} className="flex w-72 max-w-full flex-col gap-2">
        <Field name="Name of the template">
          <Input value={name} required maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
        {keep.isSuccess ? (
          <p role="status">{children}</p>
        ) : (
          <Button type="submit" look="main" disabled={keep.isPending || name.trim() === ''}>
            {keep.isPending ? 'RetentionSettings it…' : 'Save'}
          </Button>
        )}
        {keep.error && <FailureNote thrown={keep.error} />}
      </form>
    </Popover>
  )
}
