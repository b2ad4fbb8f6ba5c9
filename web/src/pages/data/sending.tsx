import type { Dataset } from '@dendro/api'
import { useState } from 'react'
import { Form, FormField } from '../../parts/records/form.tsx'
import { ShownOnce } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel, panelColumns } from '../../parts/shell/page.tsx'
import { Input } from '../../ui/field.tsx'
import { ConfigAssistant } from './config-assistant.tsx'

/** Creates an ingestion key and a ready agent configuration. */
export function Sending({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const [created, setCreated] = useState<{ name: string; key: string }>()
  const isNew = dataset.metadata.last_heartbeat_at === undefined
  return (
    <div className={panelColumns}>
      <p aria-live="polite">
        {isNew ? (
          <>
            <strong>Waiting for the first event.</strong> <span className="text-soft">It appears here within seconds.</span>
          </>
        ) : (
          <span className="text-soft">This dataset receives events. You can add more senders.</span>
        )}
      </p>
      <Panel title="Ingestion key">
        <Form
          action="Create key"
          label="Ingestion key"
          stale={['api keys']}
          onSend={(text) => client.apiKeys.create({ body: { name: text('name'), roles: ['IngestionApi'] } })}
          onSaved={setCreated}
        >
          <FormField
            name="Name"
            of="name"
            help="The key can send to every dataset of the organization, and nothing else."
            className="min-w-64"
          >
            <Input
              name="name"
              required
              maxLength={255}
              autoComplete="off"
              defaultValue={`Sends ${dataset.collection}/${dataset.dataset}`.slice(0, 255)}
            />
          </FormField>
        </Form>
        {created && (
          <div className="px-3 pb-3">
            <ShownOnce title={`The key “${created.name}”; set it as DENDRO_API_KEY for the agent`} text={created.key} />
          </div>
        )}
      </Panel>
      <ConfigAssistant dataset={dataset} />
    </div>
  )
}
