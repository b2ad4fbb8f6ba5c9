import type { ApiKey } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { clockOf } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { RolePicker, useRoleNames } from './role-picker.tsx'
import { Answer, given, Row, Rows, ShownOnce, useAct } from './rows.tsx'

const KEYS = ['api keys']
const DAY_S = 86_400
const lives = [
  ['0', 'for ever'],
  [String(30 * DAY_S), '30 days'],
  [String(90 * DAY_S), '90 days'],
  [String(365 * DAY_S), 'a year'],
] as const

/** Keys are what programs show in place of a person. */
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
            <Rows label="API keys" heads={['Name', 'Known by', 'Roles', 'Ends']} empty="There is no key.">
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
  const create = useAct(KEYS, (name: string) =>
    client.apiKeys.create({ body: { name, roles, ...(life === '0' ? {} : { ttl: Number(life) }) } }),
  )
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    create.mutate(given(form)('name'), {
      onSuccess: (made) => {
        onMade(made)
        form.reset()
      },
    })
  }
  return (
    <Panel title="New key">
      <form onSubmit={send} className="flex flex-wrap items-end gap-2 p-3">
        <Field name="Name">
          <Input name="name" required maxLength={255} autoComplete="off" placeholder="What it is for" />
        </Field>
        <RolePicker type="API" picked={roles} onPick={setRoles} />
        <Field name="Lives">
          <Select value={life} options={lives} onPick={setLife} />
        </Field>
        <Button type="submit" look="main" disabled={create.isPending || roles.length === 0}>
          Make the key
        </Button>
      </form>
      {create.error && <FailureNote thrown={create.error} />}
    </Panel>
  )
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const client = useClient()
  const nameOf = useRoleNames()
  const [draft, setDraft] = useState<{ name: string; roles: string[] }>()
  const params = { apiKeyId: apiKey.id }
  const update = useAct(KEYS, (body: { name: string; roles: string[] }) => client.apiKeys.update({ params, body }))
  const remove = useAct(KEYS, () => client.apiKeys.remove({ params }))
  const endsMs = apiKey.expires_at === undefined ? undefined : apiKey.expires_at * 1_000
  return (
    <Row
      cells={[
        draft ? (
          <Input
            key="name"
            aria-label="Name of the key"
            value={draft.name}
            onChange={(event) => setDraft({ ...draft, name: event.target.value })}
          />
        ) : (
          apiKey.name
        ),
        <code key="id" className="font-mono text-xs">
          {apiKey.api_key}
        </code>,
        draft ? (
          <RolePicker key="roles" type="API" picked={draft.roles} onPick={(roles) => setDraft({ ...draft, roles })} />
        ) : (
          apiKey.roles.map(nameOf).join(', ')
        ),
        endsMs === undefined ? (
          <span key="ends" className="text-soft">
            never
          </span>
        ) : endsMs < Date.now() ? (
          <span key="ends" className="text-error">
            has ended
          </span>
        ) : (
          clockOf(endsMs, 'utc').day
        ),
      ]}
    >
      {update.error ? <FailureNote thrown={update.error} /> : null}
      {draft && (
        <Button
          size="small"
          look="main"
          disabled={draft.name.trim() === '' || draft.roles.length === 0 || update.isPending}
          onClick={() => update.mutate({ ...draft, name: draft.name.trim() }, { onSuccess: () => setDraft(undefined) })}
        >
          Save
        </Button>
      )}
      <Button size="small" onClick={() => setDraft(draft ? undefined : { name: apiKey.name, roles: [...apiKey.roles] })}>
        {draft ? 'Keep' : 'Change'}
      </Button>
      <Confirm
        size="small"
        action="Delete"
        label={`Delete the key ${apiKey.name}`}
        question={`Delete "${apiKey.name}"? Whatever uses it stops at once.`}
        onYes={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}
