import type { ApiKey } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, Row, Rows, ShownOnce } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { AddressField, addressesIn, KeyExpiry, KeyName, KeyRotation, LastUsed, lifetimes } from './key-fields.tsx'

const PERSONAL_KEYS = ['personal keys']
const columns = ['Name', 'Prefix', 'May', 'Last used', 'Expires']

const extents = [
  ['SearchApi', 'read and search'],
  ['IngestionApi', 'send events'],
  ['AdminApi', 'all that you may'],
] as const
type Extent = (typeof extents)[number][0]

/** PersonalKeys are the API keys that act as the signed-in user. */
export function PersonalKeys() {
  const client = useClient()
  const list = useQuery({ queryKey: PERSONAL_KEYS, queryFn: ({ signal }) => client.personalKeys.list({ signal }) })
  const [created, setCreated] = useState<{ name: string; key: string }>()
  return (
    <>
      {created && <ShownOnce title={`The key “${created.name}”`} text={created.key} />}
      <Panel title="Personal API keys">
        <NewPersonalKey onCreated={setCreated} />
        <Loaded of={list}>
          {({ api_keys }) => (
            <Rows
              label="Personal API keys"
              columns={columns}
              empty="No personal keys. They act as you, in scripts and on the command line."
            >
              {api_keys.map((key) => (
                <PersonalKeyRow key={key.id} apiKey={key} onRotated={setCreated} />
              ))}
            </Rows>
          )}
        </Loaded>
      </Panel>
    </>
  )
}

function NewPersonalKey({ onCreated }: { onCreated(created: { name: string; key: string }): void }) {
  const client = useClient()
  const [extent, setExtent] = useState<Extent>('SearchApi')
  const [lifetime, setLifetime] = useState<string>(String(90 * 86_400))
  return (
    <Form
      action="Create key"
      label="New personal key"
      stale={PERSONAL_KEYS}
      className="border-line border-b"
      onSend={(text) =>
        client.personalKeys.create({
          body: {
            name: text('name'),
            roles: [extent],
            allowed_addresses: addressesIn(text('addresses')),
            ...(lifetime === '0' ? {} : { ttl: Number(lifetime) }),
          },
        })
      }
      onSaved={onCreated}
    >
      <FormField name="Name" of="name" className="min-w-40 flex-1">
        <Input name="name" required maxLength={255} autoComplete="off" placeholder="Where you use it" />
      </FormField>
      <FormField name="May" of="roles">
        <Select value={extent} options={extents} onPick={setExtent} />
      </FormField>
      <FormField name="Expires" of={['ttl', 'expires_at']}>
        <Select value={lifetime} options={lifetimes} onPick={setLifetime} />
      </FormField>
      <AddressField />
    </Form>
  )
}

function PersonalKeyRow({ apiKey, onRotated }: { apiKey: ApiKey; onRotated(rotated: { name: string; key: string }): void }) {
  const client = useClient()
  const [isOpen, setOpen] = useState(false)
  const params = { apiKeyId: apiKey.id }
  const remove = useSave(() => client.personalKeys.remove({ params }), { stale: [PERSONAL_KEYS] })
  const cells = [
    <KeyName key="name" apiKey={apiKey} />,
    <code key="id" className="font-mono text-xs">
      {apiKey.api_key}
    </code>,
    apiKey.roles.map((role) => extents.find(([one]) => one === role)?.[1] ?? role).join(', '),
    <LastUsed key="used" apiKey={apiKey} />,
    <KeyExpiry key="expires" apiKey={apiKey} />,
  ]
  const rotation = (
    <KeyRotation
      apiKey={apiKey}
      stale={PERSONAL_KEYS}
      onRotate={(overlap) => client.personalKeys.rotate({ params, body: { overlap } })}
      onEndPrevious={() => client.personalKeys.endPrevious({ params })}
      onRotated={(rotated) => {
        onRotated(rotated)
        setOpen(false)
      }}
    />
  )
  return (
    <Row cells={cells} below={isOpen && rotation}>
      <Button size="small" aria-label={`Rotate the key ${apiKey.name}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Rotate
      </Button>
      <Confirm
        size="small"
        action="Delete"
        label={`Delete the key ${apiKey.name}`}
        message={`Delete “${apiKey.name}”? Requests that use it are rejected from then on.`}
        onYes={() => remove.mutateAsync()}
      />
    </Row>
  )
}
