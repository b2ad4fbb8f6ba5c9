import { useQuery } from '@tanstack/react-query'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Form, FormField } from '../../parts/records/form.tsx'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'

const KEYS = ['encryption keys']
const LISTED_MAX = 100
const states = { KEY_STATUS_UNSPECIFIED: 'unknown', CREATED: 'recorded', ACTIVE: 'active', DISABLED: 'disabled' }

/** EncryptionKeys manages records of customer keys; nothing is encrypted with them yet, as the page says. */
export function EncryptionKeys() {
  const client = useClient()
  const list = useQuery({ queryKey: KEYS, queryFn: ({ signal }) => client.encryptionKeys.list({ query: { limit: LISTED_MAX }, signal }) })
  return (
    <>
      <p className="text-soft">Keys are only recorded here. Events are not encrypted with them yet.</p>
      <Panel title="New encryption key" needs="encryption_keys_write">
        <Form
          action="Add key"
          stale={KEYS}
          onSend={(text) =>
            client.encryptionKeys.create({ body: { name: text('name'), provider: 'AWS_KMS', aws_kms: { alias_arn: text('arn') } } })
          }
        >
          <FormField name="Name" of="name">
            <Input name="name" required maxLength={255} autoComplete="off" />
          </FormField>
          <FormField name="ARN of the key or alias" of="aws_kms" className="min-w-64 flex-1">
            <Input name="arn" required maxLength={2048} autoComplete="off" className="font-mono" placeholder="arn:aws:kms:…" />
          </FormField>
        </Form>
      </Panel>
      <Panel title="Encryption keys">
        <Loaded of={list}>
          {({ keys }) => (
            <>
              <Rows
                label="Encryption keys"
                columns={['Name', 'Key', 'Status']}
                empty="No encryption keys yet."
                howTo={<Permitted to="encryption_keys_write">Add the first one.</Permitted>}
              >
                {keys.map((key) => (
                  <KeyRow key={key.id} of={key} />
                ))}
              </Rows>
              {keys.length >= LISTED_MAX && <TruncationNote>Only the latest {LISTED_MAX}.</TruncationNote>}
            </>
          )}
        </Loaded>
      </Panel>
    </>
  )
}

type KeyReply = Awaited<ReturnType<ReturnType<typeof useClient>['encryptionKeys']['get']>>

function KeyRow({ of: { id, name, aws_kms, status } }: { of: KeyReply }) {
  const client = useClient()
  const params = { keyId: id }
  const activate = useSave(() => client.encryptionKeys.update({ params, body: { status: 'ACTIVE' } }), { stale: [KEYS] })
  const remove = useSave(() => client.encryptionKeys.remove({ params }), { stale: [KEYS] })
  return (
    <Row
      cells={[
        name,
        <code key="arn" className="break-all font-mono text-xs">
          {aws_kms?.alias_arn}
        </code>,
        states[status],
      ]}
      below={activate.error && <FailureNote thrown={activate.error} />}
    >
      {status === 'CREATED' && (
        <>
          <Permitted to="encryption_keys_write">
            <Button size="small" disabled={activate.isPending} onClick={() => activate.mutate()}>
              Activate
            </Button>
          </Permitted>
          <Confirm
            size="small"
            action="Delete"
            needs="encryption_keys_delete"
            label={`Delete the encryption key ${name}`}
            message={`Delete the record of “${name}”?`}
            onYes={() => remove.mutateAsync()}
          />
        </>
      )}
    </Row>
  )
}
