import type { Retention } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useSettled } from '../../parts/query/settled.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { PAGE, searchOf } from '../../parts/records/pages.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'
import { retentionChoices } from './retentions.ts'

const choices = retentionChoices('by the retention rules')

/** Creates a dataset before its first event; a collection exists once it has a dataset. */
export function NewDataset() {
  const client = useClient()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const [retention, setRetention] = useState<Retention | ''>('')
  return (
    <Popover label="New dataset" open={isOpen} onOpenChange={setOpen} trigger={<Button variant="main">New dataset</Button>}>
      <div className="w-72 max-w-full">
        <Form
          action="Create dataset"
          layout="column"
          stale={['datasets']}
          conflict="dataset"
          onSend={(text) =>
            client.datasets.create({
              body: { collection: text('collection'), dataset: text('dataset'), ...(retention === '' ? {} : { retention }) },
            })
          }
          onSaved={({ id }) => void navigate({ to: '/data', search: { id, part: 'sending' } })}
          onCancel={() => setOpen(false)}
        >
          <FormField name="Collection" of="collection" help="Existing or new">
            <CollectionInput />
          </FormField>
          <FormField name="Name" of="dataset">
            <Input name="dataset" required maxLength={255} autoComplete="off" />
          </FormField>
          <FormField name="Retention" of="retention">
            <Select value={retention} options={choices} onPick={setRetention} />
          </FormField>
          <p className="text-soft text-xs">The first event sent to a dataset also creates it. Create it here to configure it first.</p>
        </Form>
      </div>
    </Popover>
  )
}

/** Suggests the collections of datasets that contain what is typed. */
function CollectionInput() {
  const client = useClient()
  const [typed, setTyped] = useState('')
  const search = searchOf(useSettled(typed, SETTLE_MS))
  const query = { ...search, sort: 'name' as const, is_system_generated: false, limit: PAGE }
  const { data } = useQuery({
    queryKey: ['datasets', 'collections', query],
    queryFn: async ({ signal }) => (await client.datasets.list({ query, signal })).datasets,
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <Input
        name="collection"
        list="collections"
        required
        maxLength={255}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
      />
      <datalist id="collections">
        {[...new Set((data ?? []).map(({ collection }) => collection))].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}

/** The pause in typing after which the service searches. */
const SETTLE_MS = 200
