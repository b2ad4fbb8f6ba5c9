import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'

/** Opens a trace by its id. */
export function IdForm({ onPick }: { onPick(id: string): void }) {
  const [id, setId] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (id.trim() !== '') onPick(id.trim())
  }
  return (
    <form aria-label="Open a trace" className="ml-auto flex min-w-0 gap-1 max-sm:w-full" onSubmit={submit}>
      <Input
        aria-label="Trace id"
        placeholder="Trace id"
        value={id}
        onChange={({ target }) => setId(target.value)}
        className="min-w-0 font-mono sm:w-72"
      />
      <Button type="submit">Open</Button>
    </form>
  )
}
