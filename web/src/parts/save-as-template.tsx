import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Popover } from '../ui/popover.tsx'
import { FailureNote } from './failure.tsx'

type KeepAsTemplateProps = {
  /** name is that of the record that is kept. */
  name: string
  /** kinds are those of the templates that this makes. */
  kinds: readonly ('dashboard' | 'widget' | 'metric' | 'monitor')[]
  onKeep(name: string): Promise<unknown>
  /** children say where it is, once it is kept. */
  children: ReactNode
}

/** KeepAsTemplate keeps a record as a template, which others are made from. */
export function KeepAsTemplate({ name: first, kinds, onKeep, children }: KeepAsTemplateProps) {
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
    <Popover label="Keep as template" trigger={<Button>Keep as template</Button>}>
      <form onSubmit={send} className="flex w-72 max-w-full flex-col gap-2">
        <Field name="Name of the template">
          <Input value={name} required maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
        {keep.isSuccess ? (
          <p role="status">{children}</p>
        ) : (
          <Button type="submit" look="main" disabled={keep.isPending || name.trim() === ''}>
            {keep.isPending ? 'Keeping it …' : 'Keep it'}
          </Button>
        )}
        {keep.error && <FailureNote thrown={keep.error} />}
      </form>
    </Popover>
  )
}
