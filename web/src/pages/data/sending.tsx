import type { Dataset } from '@dendro/api'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { Panel } from '../../parts/page.tsx'
import { ShownOnce } from '../../parts/records.tsx'
import { Input } from '../../ui/field.tsx'
import { ConfigAssistant } from './config-assistant.tsx'

/** Sending creates an ingestion key and a ready agent configuration. */
export function Sending({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const [made, setMade] = useState<{ name: string; key: string }>()
  const isNew = dataset.metadata.last_heartbeat_at === undefined
  return (
    <>
      <p aria-live="polite">
        {isNew ? (
          <>
            <strong>Waiting for the first event.</strong>{' '}
            <span className="text-soft">This page says so within seconds of its arrival.</span>
          </>
        ) : (
          <span className="text-soft">Events arrive here already; more senders can be added at any time.</span>
        )}
      </p>
      <Panel title="A key that may only send">
        <Form
          action="Create key"
          label="A key that may only send"
          reads={['api keys']}
          onSend={(text) => client.apiKeys.create({ body: { name: text('name'), roles: ['IngestionApi'] } })}
          onDone={setMade}
        >
          <FormField name="Name" of="name" help="Keys belong to the organization: it may send to every dataset." className="min-w-64">
            <Input
              name="name"
              required
              maxLength={255}
              autoComplete="off"
              defaultValue={`Sends ${dataset.collection}/${dataset.dataset}`.slice(0, 255)}
            />
          </FormField>
        </Form>
        {made && (
          <div className="px-3 pb-3">
            <ShownOnce what={`The key "${made.name}", for DENDRO_API_KEY where the agent runs`} text={made.key} />
          </div>
        )}
      </Panel>
      <ConfigAssistant dataset={dataset} />
    </>
  )
}
