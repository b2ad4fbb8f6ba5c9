import type { Dataset, Retention } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { bytes, quantity, share } from '../../parts/chart/numbers.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { retentionDaysText } from './retention-days.ts'
import { daysOf, retentionChoices } from './retentions.ts'

const DATASETS = ['datasets']
const DAY_MS = 86_400_000
const dayOf = (ms: number): string => clockOf(ms, 'utc').day

/** Edits a dataset: retention, tags, names and deletion. */
export function DatasetSettings({ dataset }: { dataset: Dataset }) {
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <RetentionSettings dataset={dataset} />
      <DatasetTags dataset={dataset} />
      {!dataset.is_system_generated && <DatasetNames dataset={dataset} />}
      <DatasetLimits dataset={dataset} />
      {!dataset.is_system_generated && <DeleteDataset dataset={dataset} />}
    </div>
  )
}

const choices = retentionChoices('by the retention rules')
const rules = {
  LOG: 'set for this dataset',
  LOG_SET: 'rule of its collection',
  ORGANISATION: 'rule of the organization',
  DEPLOYMENT: 'default of the service',
}

function RetentionSettings({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const params = { datasetId: dataset.id }
  const kept = useQuery({
    queryKey: [...DATASETS, dataset.id, 'retention'],
    queryFn: ({ signal }) => client.retention.ofDataset({ params, signal }),
  })
  const [picked, setPicked] = useState<Retention | ''>(dataset.retention ?? '')
  const cutoffMs = picked === '' ? undefined : Date.now() - daysOf(picked) * DAY_MS
  const goes = cutoffMs !== undefined && kept.data?.oldest_event_at != null && kept.data.oldest_event_at < cutoffMs
  return (
    <Panel title="Retention">
      <Loaded of={kept}>
        {({ retention_days, rule, oldest_event_at, next, removed }) => (
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 p-3">
            <dt className="text-soft">Current retention</dt>
            <dd>
              {retentionDaysText(retention_days)}, {rules[rule]}
            </dd>
            <dt className="text-soft">Oldest event</dt>
            <dd>{oldest_event_at === null ? 'none' : dayOf(oldest_event_at)}</dd>
            <dt className="text-soft">Next deletion</dt>
            <dd>
              {next === null
                ? 'nothing'
                : next.events === 0
                  ? `none until ${dayOf(next.at)}`
                  : `${quantity(next.events, 'event')} before ${dayOf(next.before)}, on ${dayOf(next.at)} or later`}
            </dd>
            {removed && (
              <>
                <dt className="text-soft">Deleted so far</dt>
                <dd>{quantity(removed.events, 'event')}, by retention</dd>
              </>
            )}
          </dl>
        )}
      </Loaded>
      <Form
        action="Save"
        label="Retention"
        needs="logs_write"
        stale={DATASETS}
        layout="column"
        done="Saved."
        className="border-line border-t"
        isReady={picked !== (dataset.retention ?? '')}
        onSend={() =>
          client.datasets.update({ params, body: { collection: dataset.collection, retention: picked === '' ? null : picked } })
        }
      >
        <FormField name="Keep events for" of="retention" className="max-w-64">
          <Select value={picked} options={choices} onPick={setPicked} />
        </FormField>
        {cutoffMs !== undefined && picked !== (dataset.retention ?? '') && (
          <p className={goes ? 'text-warn' : 'text-soft'}>
            {goes
              ? `Events before ${dayOf(cutoffMs)} are hidden at once and deleted within about an hour.`
              : 'No stored event is older than that.'}
          </p>
        )}
      </Form>
    </Panel>
  )
}

function DatasetTags({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const entity = { id: dataset.id, type: 'log' as const }
  const [edited, setEdited] = useState<string>()
  const remove = useSave((name: string) => client.tags.remove({ body: { name, entity } }), { stale: [DATASETS] })
  return (
    <Panel title="Tags">
      <Permitted to="tag_write">
        <Form
          action="Add"
          label="New tag"
          stale={DATASETS}
          conflict="name"
          onSend={(text) => client.tags.create({ body: { name: text('name'), value: text('value'), entity } })}
        >
          <FormField name="Name" of="name">
            <Input name="name" required maxLength={255} autoComplete="off" placeholder="team" />
          </FormField>
          <FormField name="Value" of="value">
            <Input name="value" required maxLength={255} autoComplete="off" placeholder="checkout" />
          </FormField>
        </Form>
      </Permitted>
      <Rows
        label="Tags"
        columns={['Name', 'Value']}
        empty="No tags yet. Searches, limits and dashboards can select datasets by tag."
        howTo={<Permitted to="tag_write">Add one above.</Permitted>}
      >
        {Object.entries(dataset.tags).map(([name, value]) => (
          <Row
            key={name}
            cells={[name, value]}
            below={
              edited === name && (
                <Form
                  action="Save"
                  needs="tag_write"
                  label={`Edit the tag ${name}`}
                  stale={DATASETS}
                  onSend={(text) => client.tags.update({ body: { name, value: text('value'), entity } })}
                  onSaved={() => setEdited(undefined)}
                  onCancel={() => setEdited(undefined)}
                >
                  <FormField name={`Value of ${name}`} of="value">
                    <Input name="value" required maxLength={255} autoComplete="off" defaultValue={value} />
                  </FormField>
                </Form>
              )
            }
          >
            <Permitted to="tag_write">
              <Button size="small" aria-expanded={edited === name} onClick={() => setEdited(edited === name ? undefined : name)}>
                Edit
              </Button>
            </Permitted>
            <Confirm
              size="small"
              action="Remove"
              needs="tag_delete"
              label={`Remove the tag ${name}`}
              message={`Remove the tag “${name}”?`}
              onYes={() => remove.mutateAsync(name)}
            />
          </Row>
        ))}
      </Rows>
    </Panel>
  )
}

function DatasetNames({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  return (
    <Panel title="Names">
      <Form
        action="Rename"
        label="Names"
        needs="logs_write"
        layout="column"
        stale={DATASETS}
        conflict="dataset"
        done="Renamed."
        onSend={(text) =>
          client.datasets.update({ params: { datasetId: dataset.id }, body: { collection: text('collection'), dataset: text('dataset') } })
        }
      >
        <FormField name="Collection" of="collection">
          <Input name="collection" required maxLength={255} autoComplete="off" defaultValue={dataset.collection} />
        </FormField>
        <FormField name="Dataset" of="dataset">
          <Input name="dataset" required maxLength={255} autoComplete="off" defaultValue={dataset.dataset} />
        </FormField>
        <p className="text-soft text-xs">
          Events, monitors and dashboards keep working. Events sent to the old names create a new dataset.
        </p>
      </Form>
    </Panel>
  )
}

/** The monthly limits that apply to this dataset, from the organization and from its team. */
function DatasetLimits({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const read = useQuery({
    queryKey: ['limits over', dataset.id, dataset.tags.team],
    queryFn: async ({ signal }) => {
      const { limits } = await client.limits.list({ signal })
      const own = limits.filter(
        ({ category, target, scope }) =>
          category === 'INGESTION_LIMITS' && (target === 'ORGANISATION' || (scope.tag?.team ?? scope.tag?.value) === dataset.tags.team),
      )
      return Promise.all(own.map(async (limit) => ({ limit, usage: await client.limits.usage({ params: { limitId: limit.id }, signal }) })))
    },
  })
  return (
    <Panel
      title="Limits"
      actions={
        <Link to="/settings" search={{ part: 'limits' }} className="text-accent text-xs hover:underline">
          All limits
        </Link>
      }
    >
      <Loaded of={read}>
        {(caps) =>
          caps.length === 0 ? (
            <p className="px-3 py-4 text-soft">No limits apply to this dataset.</p>
          ) : (
            <ul className="flex flex-col gap-1 p-3">
              {caps.map(({ limit, usage }) => (
                <li key={limit.id}>
                  {limit.target === 'TEAM' ? `team ${dataset.tags.team}` : 'the organization'}: {bytes(usage.used)} of{' '}
                  {bytes(Number(limit.value))} this month ({share(usage.used, Number(limit.value))})
                  {usage.crossed_at !== undefined && <span className="text-error">, exceeded since {dayOf(usage.crossed_at)}</span>}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  )
}

function DeleteDataset({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const navigate = useNavigate()
  const remove = useSave(() => client.datasets.remove({ params: { datasetId: dataset.id } }), { stale: [DATASETS] })
  return (
    <Panel title="Delete" needs="logs_delete">
      <div className="flex flex-col items-start gap-2 p-3">
        <p className="text-soft">
          The dataset is deleted with its events and tags. Searches no longer find it; its events are removed from the disk within minutes,
          and until then it is listed under{' '}
          <Link to="/data" search={{ keep: true }} className="text-accent underline">
            Retention
          </Link>
          .
        </p>
        <Confirm
          action="Delete dataset"
          message={`Delete “${dataset.collection} / ${dataset.dataset}” with its events and tags? Monitors and dashboards that query it find no events. This cannot be undone.`}
          onYes={async () => {
            await remove.mutateAsync()
            await navigate({ to: '/data', search: {} })
          }}
        />
      </div>
    </Panel>
  )
}
