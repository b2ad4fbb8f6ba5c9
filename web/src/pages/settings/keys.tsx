import type { ApiKey } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ago } from '../../parts/chart/numbers.ts'
import { useKeyList } from '../../parts/records/caller-lists.ts'
import { Form, FormField } from '../../parts/records/form.tsx'
import { MorePages } from '../../parts/records/pages.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { ShownOnce } from '../../parts/records/records.tsx'
import { useCallerNames } from '../../parts/shell/callers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted, useMay } from '../../parts/shell/permitted.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { Input, Select } from '../../ui/field.tsx'
import { AddressField, addressesIn, KeyExpiry, KeyName, KeyRotation, LastUsed, lifetimes } from './key-fields.tsx'
import { isSameSet, RolePicker, useRoleNames } from './role-picker.tsx'

export const KEYS = ['api keys']
const columns = ['Name', 'Prefix', 'Roles', 'Created', 'Last used', 'Last event sent', 'Expires']
const HOUR_MS = 3_600_000
/** The number of keys from which the search box is shown. */
const SEARCHED_FROM = 10
const SENT_DAYS = 7

/** Keys manages API keys. */
export function Keys() {
  const client = useClient()
  const [find, setFind] = useState('')
  const list = useKeyList(find)
  const shown = list.data && list.records
  const callerOf = useCallerNames(list.records.flatMap(({ user_id, metadata }) => [user_id ?? [], metadata.created_by?.id ?? []].flat()))
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
        list={{ ...list, data: shown }}
        itemsOf={(keys) => keys}
        search={
          (find !== '' || (shown?.length ?? 0) > SEARCHED_FROM) && (
            <Input
              aria-label="Find a key"
              placeholder="Find a key"
              className="max-w-56"
              value={find}
              onChange={({ target }) => setFind(target.value)}
            />
          )
        }
        below={<MorePages of={list} />}
        stale={KEYS}
        columns={columns}
        empty={find === '' ? 'No API keys yet. Programs use a key to send events or to call the API.' : 'No key matches.'}
        howTo={find === '' ? 'Create the first one.' : ''}
        creates={false}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        cellsOf={(key) => [
          <KeyName key="name" apiKey={key} />,
          <code key="id" className="font-mono text-xs">
            {key.api_key}
          </code>,
          <KeyRoles key="roles" apiKey={key} nameOf={nameOf} callerOf={callerOf} />,
          <Created key="created" apiKey={key} callerOf={callerOf} />,
          <LastUsed key="used" apiKey={key} />,
          <LastSent key="sent" lastMs={sent.data && (sent.data.last.get(key.id) ?? (sent.data.isComplete ? null : undefined))} />,
          <KeyExpiry key="expires" apiKey={key} />,
        ]}
        // Only its user may change a personal key.
        isEditable={({ user_id }) => user_id === undefined}
        form={(key, onEnd) =>
          key && (
            <>
              <KeyForm apiKey={key} onEnd={onEnd} />
              <KeyRotation
                apiKey={key}
                stale={KEYS}
                onRotate={(overlap) => client.apiKeys.rotate({ params: { apiKeyId: key.id }, body: { overlap } })}
                onEndPrevious={() => client.apiKeys.endPrevious({ params: { apiKeyId: key.id } })}
                onRotated={(rotated) => {
                  setCreated(rotated)
                  onEnd()
                }}
              />
            </>
          )
        }
        deletionOf={({ name }) => `Delete “${name}”? Requests that use it are rejected from then on.`}
        onDelete={({ id }) => client.apiKeys.remove({ params: { apiKeyId: id } })}
      />
    </>
  )
}

function NewKey({ onCreated }: { onCreated(created: { name: string; key: string }): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>(['IngestionApi'])
  const [lifetime, setLifetime] = useState<string>('0')
  return (
    <Panel title="New key">
      <Form
        action="Create key"
        stale={KEYS}
        isReady={roles.length > 0}
        onSend={(text) =>
          client.apiKeys.create({
            body: {
              name: text('name'),
              roles,
              allowed_addresses: addressesIn(text('addresses')),
              ...(lifetime === '0' ? {} : { ttl: Number(lifetime) }),
            },
          })
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
        <AddressField />
      </Form>
    </Panel>
  )
}

/** KeyRoles are the roles of a key, and the user of a personal one. */
type KeyRolesProps = { apiKey: ApiKey; nameOf(role: string): string; callerOf(id: string): string }

function KeyRoles({ apiKey: { roles, user_id }, nameOf, callerOf }: KeyRolesProps) {
  return (
    <>
      {roles.map(nameOf).join(', ')}
      {user_id !== undefined && <span className="block text-soft text-xs">personal key of {callerOf(user_id)}</span>}
    </>
  )
}

function Created({ apiKey, callerOf }: { apiKey: ApiKey; callerOf(id: string): string }) {
  const { created_at, created_by } = apiKey.metadata
  if (created_at === undefined) return null
  return (
    <span title={clockOf(created_at, 'utc').day}>
      {ago(created_at, Date.now())}
      {created_by && <span className="text-soft"> by {callerOf(created_by.id)}</span>}
    </span>
  )
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
      onSend={(text) =>
        client.apiKeys.update({
          params: { apiKeyId: apiKey.id },
          body: { name: text('name'), roles, allowed_addresses: addressesIn(text('addresses')) },
        })
      }
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <FormField name="Name of the key" of="name">
        <Input name="name" required maxLength={255} autoComplete="off" defaultValue={apiKey.name} />
      </FormField>
      <FormField name="Roles" of="roles">
        <RolePicker type="API" picked={roles} onPick={setRoles} />
      </FormField>
      <AddressField addresses={apiKey.allowed_addresses} />
    </Form>
  )
}
