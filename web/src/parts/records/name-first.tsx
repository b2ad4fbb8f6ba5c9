import type { FormEvent } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'
import { FailureNote } from '../shell/failure.tsx'
import { useSave } from './save.ts'

type NameFirstProps<Made> = {
  label: string
  create: (name: string) => Promise<Made>
  stale: readonly (readonly unknown[])[]
  onCreated: (made: Made) => void
}

/** A button that creates a record with nothing but a name, and asks for it. */
export function NameFirst<Made>({ label, create, stale, onCreated }: NameFirstProps<Made>) {
  const creating = useSave(create, { stale, onSaved: onCreated })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim()
    if (name !== '') creating.mutate(name)
  }
  return (
    <Popover label={label} trigger={<Button variant="main">{label}</Button>}>
      <form aria-label={label} onSubmit={send} className="flex w-64 max-w-full flex-col gap-2">
        <Field name="Name">
          <Input name="name" required maxLength={255} />
        </Field>
        <Button type="submit" variant="main" disabled={creating.isPending}>
          {creating.isPending ? 'Working…' : 'Create'}
        </Button>
        {creating.error && <FailureNote thrown={creating.error} />}
      </form>
    </Popover>
  )
}
