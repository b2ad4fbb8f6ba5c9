import type { Dataset, Retention } from '@dendro/api'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form, FormField } from '../../parts/records/form.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'
import { retentionChoices } from './retentions.ts'

const choices = retentionChoices('by the retention rules')

/** Creates a dataset before its first event; a collection exists once it has a dataset. */
export function NewDataset({ datasets }: { datasets: readonly Dataset[] }) {
  const client = useClient()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const [retention, setRetention] = useState<Retention | ''>('')
  const collections = [...new Set(datasets.filter((one) => !one.is_system_generated).map(({ collection }) => collection))]
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
            <Input name="collection" list="collections" required maxLength={255} autoComplete="off" />
          </FormField>
          <datalist id="collections">
            {collections.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
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
