import type { Limit } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { bytes, count, share } from '../../parts/chart/numbers.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { Input, Select } from '../../ui/field.tsx'

const LIMITS = ['limits']
const GB = 1_000_000_000
const targets = [
  ['ORGANISATION', 'the organization'],
  ['TEAM', 'a team'],
] as const

/** Limits manages the monthly ingestion limits. */
export function Limits() {
  const client = useClient()
  const list = useQuery({ queryKey: LIMITS, queryFn: ({ signal }) => client.limits.list({ signal }) })
  return (
    <>
      <NewLimit />
      <RecordPanel
        rights={{ write: 'limits_write', delete: 'limits_delete' }}
        title="Monthly limits"
        noun="limit"
        list={list}
        itemsOf={({ limits }) => limits}
        stale={LIMITS}
        columns={['Scope', 'Limit', 'Used this month', 'Description']}
        empty="No limits yet: everything is ingested."
        howTo="Create the first one."
        creates={false}
        idOf={({ id }) => id}
        nameOf={(limit) => `of ${scopeText(limit)}`}
        cellsOf={(limit) => [
          `${scopeText(limit)}${limit.category === 'INGESTION_LIMITS' ? '' : `, ${categoryText(limit)}`}`,
          unitOf(limit)(Number(limit.value)),
          <Used key="used" limit={limit} />,
          <span key="description" className="text-soft">
            {limit.description}
          </span>,
        ]}
        form={(limit, onEnd) => limit && <LimitForm limit={limit} onEnd={onEnd} />}
        fixedOf={({ type }) => (type === 'SYSTEM' ? <span className="text-soft text-xs">set by the operator</span> : undefined)}
        deletionOf={() => 'Delete this limit? Events that it refused are accepted again at once.'}
        onDelete={({ id }) => client.limits.remove({ params: { limitId: id } })}
      />
    </>
  )
}

function NewLimit() {
  const client = useClient()
  const [target, setTarget] = useState<(typeof targets)[number][0]>('ORGANISATION')
  return (
    <Panel title="New limit" needs="limits_write">
      <Form
        action="Create limit"
        stale={LIMITS}
        conflict="target"
        onSend={(text) =>
          client.limits.create({
            body: {
              category: 'INGESTION_LIMITS',
              unit: 'BYTES',
              time_window: 'PER_MONTH',
              value: Math.round(Number(text('gigabytes')) * GB),
              target,
              scope: target === 'TEAM' ? { tag: { team: text('team') } } : {},
              ...(text('description') === '' ? {} : { description: text('description') }),
            },
          })
        }
      >
        <FormField name="Scope" of="target">
          <Select value={target} options={targets} onPick={setTarget} />
        </FormField>
        {target === 'TEAM' && (
          <FormField name="Team" of="scope" help="the value of the tag “team” of its datasets">
            <Input name="team" required maxLength={255} />
          </FormField>
        )}
        <FormField name="Gigabytes per month" of="value">
          <Input name="gigabytes" type="number" required min={0} step="any" />
        </FormField>
        <FormField name="Description" of="description" className="min-w-48 flex-1">
          <Input name="description" maxLength={4000} />
        </FormField>
      </Form>
      <p className="px-3 pb-3 text-soft text-xs">
        A request that would exceed the limit is refused as a whole, and so are later ones until the month ends or the limit is changed.
      </p>
    </Panel>
  )
}

const scopeText = ({ target, scope }: Limit): string =>
  target === 'TEAM' ? `team ${scope.tag?.team ?? scope.tag?.value ?? ''}` : 'the organization'

const categoryText = ({ category }: Limit): string => category.toLowerCase().replaceAll('_', ' ')

const unitOf = ({ unit }: Limit) => (unit === 'BYTES' ? bytes : count)

function Used({ limit }: { limit: Limit }) {
  const client = useClient()
  const usage = useQuery({
    queryKey: [...LIMITS, limit.id, 'usage'],
    queryFn: ({ signal }) => client.limits.usage({ params: { limitId: limit.id }, signal }),
  })
  if (!usage.data) return <span className="text-soft">{usage.error ? 'unknown' : 'Loading…'}</span>
  const { used, crossed_at } = usage.data
  return (
    <span className={crossed_at === undefined ? '' : 'text-error'}>
      {unitOf(limit)(used)} ({share(used, Number(limit.value))})
      {crossed_at !== undefined && `, exceeded since ${clockOf(crossed_at, 'utc').day}`}
    </span>
  )
}

function LimitForm({ limit, onEnd }: { limit: Limit; onEnd(): void }) {
  const client = useClient()
  return (
    <Form
      action="Save"
      label={`Edit the limit of ${scopeText(limit)}`}
      isDirty={false}
      stale={LIMITS}
      onSend={(text) =>
        client.limits.update({
          params: { limitId: limit.id },
          body: { value: Math.round(Number(text('gigabytes')) * GB), description: text('description') },
        })
      }
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <FormField name="Gigabytes per month" of="value">
        <Input name="gigabytes" type="number" required min={0} step="any" defaultValue={Number(limit.value) / GB} />
      </FormField>
      <FormField name="Description" of="description" className="min-w-48 flex-1">
        <Input name="description" maxLength={4000} defaultValue={limit.description} />
      </FormField>
    </Form>
  )
}
