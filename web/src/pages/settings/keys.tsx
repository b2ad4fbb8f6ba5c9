import type { ApiKey } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useCallerNames } from '../../parts/callers.ts'
import { useClient } from '../../parts/client.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { ago } from '../../parts/numbers.ts'
import { Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, ShownOnce, useAction } from '../../parts/records.tsx'
import { clockOf } from '../../parts/time-range.ts'
import { Input, Select } from '../../ui/field.tsx'
import { RolePicker, useRoleNames } from './role-picker.tsx'

const KEYS = ['api keys']
const DAY_S = 86_400
const lives = [
  ['0', 'for ever'],
  [String(DAY_S), 'a day'],
  [String(30 * DAY_S), '30 days'],
  [String(90 * DAY_S), '90 days'],
  [String(365 * DAY_S), 'a year'],
] as const
const heads = ['Name', 'Known by', 'Roles', 'Made', 'Ends']

/** Keys manages API keys. */
export function Keys() {
  const client = useClient()
  const list = useQuery({ queryKey: KEYS, queryFn: ({ signal }) => client.apiKeys.list({ signal }) })
  const [made, setMade] = useState<{ name: string; key: string }>()
  return (
    <>
      <NewKey onMade={setMade} />
      {made && <ShownOnce what={`The key "${made.name}"`} text={made.key} />}
      <Panel title="Keys">
        <Answer of={list}>
          {({ api_keys }) => (
            <Rows label="API keys" heads={heads} empty="No API keys yet.">
              {api_keys.map((key) => (
                <KeyRow key={key.id} apiKey={key} />
              ))}
            </Rows>
          )}
        </Answer>
      </Panel>
    </>
  )
}

function NewKey({ onMade }: { onMade(made: { name: string; key: string }): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>(['IngestionApi'])
  const [life, setLife] = useState('0')
  return (
    <Panel title="New key">
      <Form
        action="Create key"
        reads={KEYS}
        isReady={roles.length > 0}
        onSend={(text) => client.apiKeys.create({ body: { name: text('name'), roles, ...(life === '0' ? {} : { ttl: Number(life) }) } })}
        onDone={onMade}
      >
        <FormField name="Name" of="name" className="min-w-48 flex-1">
          <Input name="name" required maxLength={255} autoComplete="off" placeholder="What it is for" />
        </FormField>
        <FormField name="Roles" of="roles">
          <RolePicker type="API" picked={roles} onPick={setRoles} />
        </FormField>
        <FormField name="Lives" of={['ttl', 'expires_at']}>
          <Select value={life} options={lives} onPick={setLife} />
        </FormField>
      </Form>
    </Panel>
  )
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const client = useClient()
  const nameOf = useRoleNames()
  const callerOf = useCallerNames()
  const [isEdited, setEdited] = useState(false)
  const params = { apiKeyId: apiKey.id }
  const remove = useAction(KEYS, () => client.apiKeys.remove({ params }))
  const { created_at, created_by } = apiKey.metadata
  return (
    <Row
      cells={[
        apiKey.name,
        <code key="id" className="font-mono text-xs">
          {apiKey.api_key}
        </code>,
        apiKey.roles.map(nameOf).join(', '),
        created_at === undefined ? (
          ''
        ) : (
          <span key="made" title={clockOf(created_at, 'utc').day}>
            {ago(created_at, Date.now())}
            {created_by && <span className="text-soft"> by {callerOf(created_by.id)}</span>}
          </span>
        ),
        <Ends key="ends" endsS={apiKey.expires_at} />,
      ]}
      below={isEdited && <KeyForm apiKey={apiKey} onEnd={() => setEdited(false)} />}
    >
      <ChangeAndDelete
        isEdited={isEdited}
        onEdit={setEdited}
        label={`Delete the key ${apiKey.name}`}
        message={`Delete "${apiKey.name}"? Whatever uses it stops at once.`}
        onDelete={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}

function Ends({ endsS }: { endsS: number | undefined }) {
  if (endsS === undefined) return <span className="text-soft">never</span>
  const hasEnded = endsS * 1_000 < Date.now()
  return <span className={hasEnded ? 'text-error' : ''}>{hasEnded ? 'has ended' : clockOf(endsS * 1_000, 'utc').day}</span>
}

function KeyForm({ apiKey, onEnd }: { apiKey: ApiKey; onEnd(): void }) {
  const client = useClient()
  const [roles, setRoles] = useState<string[]>([...apiKey.roles])
  return (
    <Form
      action="Save"
      label={`Change the key ${apiKey.name}`}
      reads={KEYS}
      isReady={roles.length > 0}
      onSend={(text) => client.apiKeys.update({ params: { apiKeyId: apiKey.id }, body: { name: text('name'), roles } })}
      onDone={onEnd}
      onLeave={onEnd}
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
