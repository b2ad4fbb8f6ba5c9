import type { ApiKey } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ago } from '../../parts/chart/numbers.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { ShownOnce } from '../../parts/records/records.tsx'
import { useCallerNames } from '../../parts/shell/callers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted, useMay } from '../../parts/shell/permitted.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { Input, Select } from '../../ui/field.tsx'
import { isSameSet, RolePicker, useRoleNames } from './role-picker.tsx'

export const KEYS = ['api keys']
const DAY_S = 86_400
const lifetimes = [
  ['0', 'never'],
  [String(DAY_S), 'in a day'],
  [String(30 * DAY_S), 'in 30 days'],
  [String(90 * DAY_S), 'in 90 days'],
  [String(365 * DAY_S), 'in a year'],
] as const
const columns = ['Name', 'Prefix', 'Roles', 'Created', 'Last used', 'Last event sent', 'Expires']
const HOUR_MS = 3_600_000
const SENT_DAYS = 7

/** Keys manages API keys. */
export function Keys() {
  const client = useClient()
  const list = useQuery({ queryKey: KEYS, queryFn: ({ signal }) => client.apiKeys.list({ signal }) })
  const nameOf = useRoleNames()
  const sent = useLastSent()
  const [created, setCreated] = useState<{ name: string; key: string }>()
  return (
    <>
      <Permitted to="api_keys_write">
        <NewKey onCreated={setCreated} />
      </Permitted>
      {created && <ShownOnce title={`The key “${created.name}”`} text={created.key} />}
      <RecordPanel
        rights={{ write: 'api_keys_write', delete: 'api_keys_delete' }}
        title="API keys"
        noun="key"
        list={list}
        itemsOf={({ api_keys }) => api_keys}
        stale={KEYS}
        columns={columns}
        empty="No API keys yet. Programs use a key to send events or to call the API."
        howTo="Create the first one."
        creates={false}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        cellsOf={(key) => [
          key.name,
          <code key="id" className="font-mono text-xs">
            {key.api_key}
          </code>,
          key.roles.map(nameOf).join(', '),
          <Created key="created" apiKey={key} />,
          <LastUsed key="used" usedMs={key.last_used_at} />,
          <LastSent key="sent" lastMs={sent.data && (sent.data.last.get(key.id) ?? (sent.data.isComplete ? null : undefined))} />,
          <Expires key="expires" expiresS={key.expires_at} />,
        ]}
        form={(key, onEnd) => key && <KeyForm apiKey={key} onEnd={onEnd} />}
        deletionOf={({ name }) => `Delete “${name}”? Requests that use it are rejected from then on.`}
        onDelete={({ id }) => client.apiKeys.remove({ params: { apiKeyId: id } })}
      />
    </>
  )
}

function NewKey({ onCreated }: { onCreated(created: { name: string; key: string }): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>(['IngestionApi'])
  const [lifetime, setLifetime] = useState('0')
  return (
    <Panel title="New key">
      <Form
        action="Create key"
        stale={KEYS}
        isReady={roles.length > 0}
        onSend={(text) =>
          client.apiKeys.create({ body: { name: text('name'), roles, ...(lifetime === '0' ? {} : { ttl: Number(lifetime) }) } })
        }
        onSaved={onCreated}
      >
        <FormField name="Name" of="name" className="min-w-48 flex-1">
          <Input name="name" required maxLength={255} autoComplete="off" placeholder="Purpose of the key" />
        </FormField>
        <FormField name="Roles" of="roles">
          <RolePicker type="API" picked={roles} onPick={setRoles} />
        </FormField>
        <FormField name="Expires" of={['ttl', 'expires_at']}>
          <Select value={lifetime} options={lifetimes} onPick={setLifetime} />
        </FormField>
      </Form>
    </Panel>
  )
}

function Created({ apiKey }: { apiKey: ApiKey }) {
  const callerOf = useCallerNames()
  const { created_at, created_by } = apiKey.metadata
  if (created_at === undefined) return null
  return (
    <span title={clockOf(created_at, 'utc').day}>
      {ago(created_at, Date.now())}
      {created_by && <span className="text-soft"> by {callerOf(created_by.id)}</span>}
    </span>
  )
}

/** LastUsed is the last request of the key of any kind. */
function LastUsed({ usedMs }: { usedMs: number | undefined }) {
  if (usedMs === undefined) return <span className="text-soft">never</span>
  const { day, clock } = clockOf(usedMs, 'utc')
  return <span title={`${day} ${clock.slice(0, 5)} UTC`}>{ago(usedMs, Date.now())}</span>
}

/** useLastSent finds the last hour of the week in which each key sent events; it reads the ingestion ledger. */
function useLastSent() {
  const client = useClient()
  const may = useMay()
  const toMs = (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS
  const hours = SENT_DAYS * 24
  return useQuery({
    queryKey: ['last sent', toMs],
    enabled: may('usage_read'),
    queryFn: async ({ signal }) => {
      const query = { from_ts: toMs - hours * HOUR_MS, to_ts: toMs, num_of_slices: hours, limit: 10_000 }
      const { entries, is_complete } = await client.ledger.get({ query, signal })
      const last = new Map<string, number>()
      for (const { identity, end_time } of entries) if (identity) last.set(identity.id, Math.max(last.get(identity.id) ?? 0, end_time))
      return { last, isComplete: is_complete }
    },
  })
}

/** LastSent is empty until the ledger has loaded, and when the ledger has too many entries to tell. */
function LastSent({ lastMs }: { lastMs: number | null | undefined }) {
  if (lastMs === undefined) return null
  if (lastMs === null) return <span className="text-soft">none in {SENT_DAYS} days</span>
  return <>{lastMs > Date.now() ? 'within the hour' : ago(lastMs, Date.now())}</>
}

function Expires({ expiresS }: { expiresS: number | undefined }) {
  if (expiresS === undefined) return <span className="text-soft">never</span>
  const isExpired = expiresS * 1_000 < Date.now()
  return <span className={isExpired ? 'text-error' : ''}>{isExpired ? 'expired' : clockOf(expiresS * 1_000, 'utc').day}</span>
}

function KeyForm({ apiKey, onEnd }: { apiKey: ApiKey; onEnd(): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>([...apiKey.roles])
  return (
    <Form
      action="Save"
      label={`Edit the key ${apiKey.name}`}
      stale={KEYS}
      isReady={roles.length > 0}
      isDirty={!isSameSet(roles, apiKey.roles)}
      onSend={(text) => client.apiKeys.update({ params: { apiKeyId: apiKey.id }, body: { name: text('name'), roles } })}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <FormField name="Name of the key" of="name">
        <Input name="name" required maxLength={255} autoComplete="off" defaultValue={apiKey.name} />
      </FormField>
      <FormField name="Roles" of="roles">
        <RolePicker type="API" picked={roles} onPick={setRoles} />
      </FormField>
    </Form>
  )
}
