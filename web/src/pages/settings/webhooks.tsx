import type { WebhookIntegration } from '@dendro/api'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { Form, FormField, type TextOf } from '../../parts/form.tsx'
import { Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, useAction } from '../../parts/records.tsx'
import { Button } from '../../ui/button.tsx'
import { Input, TextArea } from '../../ui/field.tsx'

const WEBHOOKS = ['webhooks']
/** KEPT is the placeholder of a secret that is not shown and stays unchanged. */
const KEPT = '***'

/** Webhooks manages the webhooks that receive notifications. */
export function Webhooks() {
  const client = useClient()
  const list = useQuery({ queryKey: WEBHOOKS, queryFn: ({ signal }) => client.integrations.webhooks({ signal }) })
  const [isMaking, setMaking] = useState(false)
  return (
    <Panel title="Webhooks" actions={!isMaking && <Button onClick={() => setMaking(true)}>New webhook</Button>}>
      {isMaking && <WebhookForm webhook={undefined} onEnd={() => setMaking(false)} />}
      <Answer of={list}>
        {({ integrations }) => (
          <Rows label="Webhooks" heads={['Name', 'Address', 'Signed']} empty="No webhooks yet.">
            {integrations.map((webhook) => (
              <WebhookRow key={webhook.id} webhook={webhook} />
            ))}
          </Rows>
        )}
      </Answer>
    </Panel>
  )
}

function WebhookRow({ webhook }: { webhook: WebhookIntegration }) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const params = { webhookId: webhook.id }
  const probe = useMutation({ mutationFn: () => client.integrations.testWebhook({ params }) })
  const remove = useAction(WEBHOOKS, () => client.integrations.removeWebhook({ params }))
  const result = probe.data && (probe.data.delivered ? `delivered, ${probe.data.status}` : (probe.data.failure_reason ?? 'not delivered'))
  return (
    <Row
      cells={[
        webhook.name,
        <span key="url" className="break-all font-mono text-xs">
          {webhook.url}
        </span>,
        webhook.is_signed ? 'yes' : 'no',
      ]}
      below={
        isEdited ? (
          <WebhookForm webhook={webhook} onEnd={() => setEdited(false)} />
        ) : probe.error ? (
          <FailureNote thrown={probe.error} />
        ) : undefined
      }
    >
      {result && (
        <span role="status" className={`self-center text-xs ${probe.data?.delivered ? 'text-accent' : 'text-error'}`}>
          {result}
        </span>
      )}
      <Button size="small" disabled={probe.isPending} onClick={() => probe.mutate()}>
        {probe.isPending ? 'Testing…' : 'Test'}
      </Button>
      <ChangeAndDelete
        isEdited={isEdited}
        onEdit={setEdited}
        label={`Delete the webhook ${webhook.name}`}
        message={`Delete "${webhook.name}"? Monitors that name it keep it from being deleted.`}
        onDelete={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}

function WebhookForm({ webhook, onEnd }: { webhook: WebhookIntegration | undefined; onEnd(): void }) {
  const client = useClient()
  const send = async (text: TextOf) => {
    const secret = text('secret')
    const body = {
      name: text('name'),
      url: text('url'),
      custom_headers: headersOf(text('headers')),
      ...(text('payload') === '' ? {} : { payload: text('payload') }),
      ...(secret === '' ? {} : { signing_secret: secret }),
    }
    if (webhook) await client.integrations.updateWebhook({ params: { webhookId: webhook.id }, body })
    else await client.integrations.createWebhook({ body })
  }
  return (
    <Form
      action={webhook ? 'Save' : 'Create webhook'}
      label={webhook ? `Change ${webhook.name}` : 'New webhook'}
      shape="column"
      reads={WEBHOOKS}
      conflict="name"
      className={webhook ? '' : 'border-line border-b'}
      onSend={send}
      onDone={onEnd}
      onLeave={onEnd}
    >
      <div className="flex flex-wrap gap-2">
        <FormField name="Name" of="name">
          <Input name="name" required maxLength={255} defaultValue={webhook?.name} />
        </FormField>
        <FormField name="Address" of="url" className="min-w-64 flex-1">
          <Input name="url" type="url" required maxLength={2048} defaultValue={webhook?.url} placeholder="https://…" />
        </FormField>
        <FormField name="Signing secret" of="signing_secret" help="16 characters or more; empty means unsigned">
          <Input name="secret" minLength={3} maxLength={255} autoComplete="off" defaultValue={webhook?.is_signed ? KEPT : ''} />
        </FormField>
      </div>
      <FormField name="Headers" of="custom_headers" help="One in a line, as Name: value. A value *** stays as it is.">
        <TextArea
          name="headers"
          className="font-mono"
          defaultValue={Object.keys(webhook?.custom_headers ?? {})
            .map((name) => `${name}: ${KEPT}`)
            .join('\n')}
        />
      </FormField>
      <FormField name="Body" of="payload" help="JSON in which $title, $description and the like are replaced; empty means the plain one.">
        <TextArea name="payload" className="font-mono" maxLength={2048} defaultValue={webhook?.payload} />
      </FormField>
    </Form>
  )
}

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf(':')
      return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
    }),
  )
