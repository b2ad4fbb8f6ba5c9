import type { ApiKey } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ago } from '../../parts/chart/numbers.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { Loaded, Row, Rows, ShownOnce } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted, useMay } from '../../parts/shell/permitted.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { KEYS } from './keys.tsx'

const ROLE = 'ProvisioningApi'
/** How many tokens are listed, the newest. */
const TOKENS_MAX = 100

/** Directory has what a directory needs to manage users and groups: the address, and tokens, which are API keys of one role. */
export function Directory() {
  const client = useClient()
  const may = useMay()
  const list = useQuery({
    queryKey: [...KEYS, ROLE],
    enabled: may('api_keys_read'),
    queryFn: ({ signal }) => client.apiKeys.list({ query: { role: ROLE, limit: TOKENS_MAX }, signal }),
  })
  const [created, setCreated] = useState<{ name: string; key: string }>()
  const create = (name: string) => client.apiKeys.create({ body: { name, roles: [ROLE] } })
  const replace = useSave(create, { stale: [KEYS], onSaved: setCreated })
  return (
    <Permitted to="api_keys_read">
      <Panel title="Users and groups from a directory">
        <p className="px-3 pt-3 text-soft">
          A directory manages users and groups by SCIM 2.0 at{' '}
          <code className="break-all font-mono text-xs">{`${location.origin}/scim/v2`}</code> with one of these tokens, which are good for
          nothing else.
        </p>
        <Permitted to="api_keys_write">
          <Form action="Create token" label="New token" stale={KEYS} onSend={(text) => create(text('name'))} onSaved={setCreated}>
            <FormField name="Name of the token" of="name" className="min-w-48 flex-1">
              <Input name="name" required maxLength={255} autoComplete="off" placeholder="Name of the directory" />
            </FormField>
          </Form>
        </Permitted>
        {created && (
          <div className="px-3 pb-3">
            <ShownOnce title={`The token “${created.name}”`} text={created.key} />
          </div>
        )}
        {replace.error && <FailureNote thrown={replace.error} />}
        <Loaded of={list}>
          {({ api_keys }) => (
            <Rows
              label="Tokens"
              columns={['Token', 'Last request', 'Expires']}
              empty="No tokens yet: users come by sign-on and invitation only."
            >
              {api_keys.map((key) => (
                <Row key={key.id} cells={[key.name, <LastRequest key="last" apiKey={key} />, <Expiry key="expires" apiKey={key} />]}>
                  <Permitted to="api_keys_write">
                    <Button
                      size="small"
                      aria-label={`Replace the token ${key.name}`}
                      title="Create another one; delete this one when the directory has it"
                      disabled={replace.isPending}
                      onClick={() => replace.mutate(key.name)}
                    >
                      Replace
                    </Button>
                  </Permitted>
                  <Confirm
                    size="small"
                    action="Revoke"
                    needs="api_keys_delete"
                    label={`Revoke the token ${key.name}`}
                    message={`Revoke “${key.name}”? The directory can no longer change users and groups with it.`}
                    onYes={async () => {
                      await client.apiKeys.remove({ params: { apiKeyId: key.id } })
                      await list.refetch()
                    }}
                  />
                </Row>
              ))}
            </Rows>
          )}
        </Loaded>
      </Panel>
    </Permitted>
  )
}

function LastRequest({ apiKey: { last_used_at: usedMs } }: { apiKey: ApiKey }) {
  if (usedMs === undefined) return <span className="text-soft">none yet</span>
  const { day, clock } = clockOf(usedMs, 'utc')
  return <span title={`${day} ${clock.slice(0, 5)} UTC`}>{ago(usedMs, Date.now())}</span>
}

const Expiry = ({ apiKey: { expires_at: expiresS } }: { apiKey: ApiKey }) =>
  expiresS === undefined ? <span className="text-soft">never</span> : clockOf(expiresS * 1_000, 'utc').day
