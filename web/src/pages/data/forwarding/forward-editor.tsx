import type { ForwardConfig } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { DatasetPicker } from '../../../parts/datasets/dataset-picker.tsx'
import { useKnownFields } from '../../../parts/query/fields.ts'
import { QueryField } from '../../../parts/query/query-input.tsx'
import { readWhere } from '../../../parts/query/query-readers.ts'
import { EditorPage } from '../../../parts/records/editor-page.tsx'
import { FieldError, FieldErrorsOf, FormField } from '../../../parts/records/form.tsx'
import { MissingRecord } from '../../../parts/records/records.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { Panel } from '../../../parts/shell/page.tsx'
import { Input, Select } from '../../../ui/field.tsx'
import { ConnectionTest } from '../connection-test.tsx'
import { NameFields } from '../name-fields.tsx'
import { DestinationFields } from './destination-fields.tsx'
import { FORWARD_CONFIGS, useForwardConfigs } from './forward-configs.ts'
import {
  destinationBody,
  type ForwardDraft,
  formatOf,
  forwardBody,
  forwardDraftOf,
  missingInDestination,
  missingInForward,
  newForward,
} from './forward-draft.ts'

const LATELY = { words: 'Last 1 day' }

const lineFormats: readonly (readonly [ForwardConfig['format'], string])[] = [
  ['RAW', 'Original events, one in a line'],
  ['NDJSON', 'JSON lines with all fields'],
]
const formats: typeof lineFormats = [...lineFormats, ['PARQUET', 'Parquet, a column for each field']]

const compressions: readonly (readonly [ForwardConfig['compression'], string])[] = [
  ['ZSTD', 'zstd'],
  ['GZIP', 'gzip'],
  ['NONE', 'none'],
]

const BackToForwarding = () => (
  <Link to="/data" search={{ forwarding: true }}>
    Forwarding
  </Link>
)

/** Edits a forward config, or a new one. */
export function ForwardEditor({ id }: { id: string | undefined }) {
  const configs = useForwardConfigs()
  if (id === undefined) return <ForwardForm first={newForward} />
  const config = configs.data?.find((one) => one.id === id)
  if (config) return <ForwardForm first={forwardDraftOf(config)} edited={config} />
  return <MissingRecord title="Edit forwarding" noun="configuration" of={configs} back={<BackToForwarding />} />
}

type ForwardFormProps = { first: ForwardDraft; edited?: Pick<ForwardConfig, 'id' | 'name'> }

function ForwardForm({ first, edited }: ForwardFormProps) {
  const [draft, setDraft] = useState(first)
  const client = useClient()
  const navigate = useNavigate()
  const set = (change: Partial<ForwardDraft>) => setDraft((now) => ({ ...now, ...change }))
  const save = useSave(
    () => {
      const body = forwardBody(draft)
      return edited ? client.forwardConfigs.update({ params: { forwardId: edited.id }, body }) : client.forwardConfigs.create({ body })
    },
    { stale: [FORWARD_CONFIGS], onSaved: () => navigate({ to: '/data', search: { forwarding: true }, replace: true }) },
  )
  return (
    <EditorPage
      title={edited ? `Edit ${edited.name}` : 'Forward events'}
      action={edited ? 'Save' : 'Create configuration'}
      needs="forward_write"
      missing={missingInForward(draft)}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToForwarding />}
      cancel={
        <Link to="/data" search={{ forwarding: true }}>
          Cancel
        </Link>
      }
      onSend={() => save.mutate()}
    >
      <FieldErrorsOf thrown={save.error}>
        <Panel title="Destination">
          <div className="flex flex-col gap-3 p-3">
            <DestinationFields draft={draft.destination} onChange={(destination) => set({ destination })} />
            <ConnectionTest
              action="Test destination"
              success="It accepts payloads."
              body={destinationBody(draft.destination)}
              isReady={missingInDestination(draft.destination) === undefined}
              send={(body) => client.forwardConfigs.test({ body })}
            />
          </div>
        </Panel>
        <Panel title="Events">
          <EventFields draft={draft} onChange={set} />
        </Panel>
        <Panel title="Payloads">
          <PayloadFields draft={draft} onChange={set} />
        </Panel>
        <Panel title="Name">
          <div className="flex flex-col gap-3 p-3">
            <NameFields draft={draft} onChange={set} />
          </div>
        </Panel>
      </FieldErrorsOf>
    </EditorPage>
  )
}

type PartProps = { draft: ForwardDraft; onChange(change: Partial<ForwardDraft>): void }

function EventFields({ draft, onChange }: PartProps) {
  const known = useKnownFields({ datasets: draft.datasets && [...draft.datasets], range: LATELY, refreshCount: 0 }, true)
  return (
    <div className="flex flex-col gap-3 p-3">
      <div>
        <DatasetPicker picked={draft.datasets} onPick={(datasets) => onChange({ datasets })} />
        <FieldError of="log_ids" />
      </div>
      <QueryField
        label="Filter"
        placeholder="all events, or field = value AND …"
        text={draft.filter}
        known={{ read: readWhere, fields: known.data?.fields ?? [] }}
        onText={(filter) => onChange({ filter })}
      />
      <p className="text-soft text-xs">Events that arrive from now on are forwarded. Those of datasets that are hidden from you are not.</p>
    </div>
  )
}

function PayloadFields({ draft, onChange }: PartProps) {
  return (
    <div className="flex flex-col gap-3 p-3">
      <div className="flex flex-wrap gap-3">
        <FormField name="Format" of="format" className="min-w-48 flex-1">
          <Select
            value={formatOf(draft)}
            options={draft.destination.type === 'S3' ? formats : lineFormats}
            onPick={(format) => onChange({ format })}
          />
        </FormField>
        <FormField name="Compression" of="compression" className="min-w-24 flex-1">
          <Select value={draft.compression} options={compressions} onPick={(compression) => onChange({ compression })} />
        </FormField>
      </div>
      <fieldset className="flex flex-wrap gap-3">
        <legend className="mb-1 text-soft text-xs">A payload is sent when it has reached one of these:</legend>
        <FormField name="Size in MB" of="max_payload_size_bytes" className="min-w-24 flex-1">
          <Input
            type="number"
            min={1}
            max={1_000}
            step="any"
            value={draft.megabytes}
            onChange={({ target }) => onChange({ megabytes: target.value })}
          />
        </FormField>
        <FormField name="Events" of="max_payload_size_events" className="min-w-24 flex-1">
          <Input
            type="number"
            min={1_000}
            max={1_000_000_000}
            value={draft.events}
            onChange={({ target }) => onChange({ events: target.value })}
          />
        </FormField>
        <FormField name="Age in minutes" of="max_buffer_time_ms" className="min-w-24 flex-1">
          <Input
            type="number"
            min={1}
            max={1_440}
            step="any"
            value={draft.minutes}
            onChange={({ target }) => onChange({ minutes: target.value })}
          />
        </FormField>
      </fieldset>
    </div>
  )
}
