import type { NotebookStep } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { searchDetailsOf } from '../../../parts/query/search-details.ts'
import { useNotebookSearch } from '../../../parts/records/notebook-list.ts'
import { SearchSelect } from '../../../parts/records/search-select.tsx'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { boundsOf } from '../../../parts/time/time-range.ts'
import type { DendroClient } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../../ui/field.tsx'
import { type ExploreParams, selectedRangeOf, withRange } from '../explore-params.ts'

type AddToNotebookProps = { params: ExploreParams; columns: readonly string[] }

const KEY = ['notebooks']
const NEW = 'new'
const NEW_NAME = 'New notebook'
/** How often a step is added again when somebody else has changed the notebook meanwhile. */
const TRIES = 3

/** Pins the query as a step of an investigation: with fixed times, since a relative range would soon show something else. */
export function AddToNotebook({ params, columns }: AddToNotebookProps) {
  const client = useClient()
  const queries = useQueryClient()
  const [find, setFind] = useState('')
  const list = useNotebookSearch(find)
  const [picked, setPicked] = useState<{ id: string; name: string }>()
  const [latest, setLatest] = useState(list.records[0])
  if (!latest && list.records[0]) setLatest(list.records[0])
  const chosen = picked?.id ?? latest?.id ?? NEW
  const options = [...list.records.map(({ id, name }) => [id, name] as const), [NEW, NEW_NAME] as const]
  const pick = (id: string) => setPicked({ id, name: options.find(([one]) => one === id)?.[1] ?? id })
  const add = useMutation({
    mutationFn: (step: { name: string; step: NotebookStep }) =>
      chosen === NEW ? client.notebooks.create({ body: { name: step.name, steps: [step.step] } }) : append(client, chosen, step.step),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: KEY })
      await queries.invalidateQueries({ queryKey: ['notebook', id] })
    },
  })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [title, words] = [String(form.get('title') ?? '').trim(), String(form.get('words') ?? '').trim()]
    const fixed = withRange(params, boundsOf(selectedRangeOf(params), Date.now()))
    const step = {
      ...(title === '' ? {} : { title }),
      ...(words === '' ? {} : { words }),
      search_details: searchDetailsOf(fixed, columns),
    }
    add.mutate({ name: String(form.get('name') ?? '').trim(), step })
  }
  if (list.error) return <FailureNote thrown={list.error} again={list.refetch} isSmall />
  if (!list.data) return <p className="text-soft">Loading…</p>
  if (add.data)
    return (
      <p role="status" className="w-80 max-w-full">
        Added to{' '}
        <Link to="/notebooks" search={{ id: add.data.id }} className="text-accent underline">
          {add.data.name}
        </Link>
        .
      </p>
    )
  return (
    <form aria-label="Add to notebook" onSubmit={send} className="flex w-80 max-w-full flex-col gap-2">
      {latest && (
        <Field name="Notebook">
          {list.isWhole ? (
            <Select value={chosen} options={options} onPick={pick} />
          ) : (
            <SearchSelect
              name="Notebook"
              noun="notebook"
              selected={picked?.name ?? latest.name}
              options={options}
              of={list}
              find={find}
              onFind={setFind}
              onPick={pick}
            />
          )}
        </Field>
      )}
      {chosen === NEW && (
        <Field name="Name of the notebook">
          <Input name="name" required maxLength={255} />
        </Field>
      )}
      <Field name="Title">
        <Input name="title" maxLength={255} />
      </Field>
      <Field name="What you found">
        <TextArea name="words" rows={4} maxLength={10_000} />
      </Field>
      {add.error && <FailureNote thrown={add.error} isSmall />}
      <Button type="submit" variant="main" disabled={add.isPending}>
        {add.isPending ? 'Working…' : 'Add step'}
      </Button>
    </form>
  )
}

async function append(client: DendroClient, notebookId: string, step: NotebookStep, tries = TRIES): Promise<{ id: string; name: string }> {
  const params = { notebookId }
  const { steps, version } = await client.notebooks.get({ params })
  try {
    return await client.notebooks.update({ params, body: { steps: [...steps, step], version } })
  } catch (thrown) {
    if (tries > 1 && thrown instanceof ApiFailure && thrown.status === 409) return append(client, notebookId, step, tries - 1)
    throw thrown
  }
}
