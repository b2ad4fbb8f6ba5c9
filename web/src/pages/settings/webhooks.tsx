import type { WebhookIntegration } from '@dendro/api'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { Answer, given, Row, Rows, useAct } from './rows.tsx'

const WEBHOOKS = ['webhooks']
/** KEPT stands for a value that is never shown and stays as it is. */
const KEPT = '***'

/** Webhooks are places that notifications are posted to. */
export function Webhooks() {
  const client = useClient()
  const list = useQuery({ queryKey: WEBHOOKS, queryFn: ({ signal }) => client.integrations.webhooks({ signal }) })
  const [edited, setEdited] = useState<WebhookIntegration | 'new'>()
  return (
    <Panel title="Webhooks" actions={edited === undefined && <Button onClick={() => setEdited('new')}>New webhook</Button>}>
      {edited !== undefined && (
        <WebhookForm
          key={edited === 'new' ? 'new' : edited.id}
          webhook={edited === 'new' ? undefined : edited}
          onEnd={() => setEdited(undefined)}
        />
      )}
      <Answer of={list}>
        {({ integrations }) => (
          <Rows label="Webhooks" heads={['Name', 'Address', 'Signed']} empty="No webhook yet.">
            {integrations.map((webhook) => (
              <WebhookRow key={webhook.id} webhook={webhook} onEdit={() => setEdited(webhook)} />
            ))}
          </Rows>
        )}
      </Answer>
    </Panel>
  )
}

function WebhookRow({ webhook, onEdit }: { webhook: WebhookIntegration; onEdit(): void }) {
  const client = useClient()
  const params = { webhookId: webhook.id }
  const probe = useMutation({ mutationFn: () => client.integrations.testWebhook({ params }) })
  const remove = useAct(WEBHOOKS, () => client.integrations.removeWebhook({ params }))
  const told = probe.data && (probe.data.delivered ? `delivered, ${probe.data.status}` : (probe.data.failure_reason ?? 'not delivered'))
  return (
    <Row
      cells={[
        webhook.name,
        <span key="url" className="break-all font-mono text-xs">
          {webhook.url}
        </span>,
        webhook.is_signed ? 'yes' : 'no',
      ]}
    >
      {told && (
        <span role="status" className={`self-center text-xs ${probe.data?.delivered ? 'text-accent' : 'text-error'}`}>
          {told}
        </span>
      )}
      {probe.error && <FailureNote thrown={probe.error} />}
      <Button size="small" disabled={probe.isPending} onClick={() => probe.mutate()}>
        {probe.isPending ? 'Calling …' : 'Test'}
      </Button>
      <Button size="small" onClick={onEdit}>
        Change
      </Button>
      <Confirm
        size="small"
        action="Delete"
        label={`Delete the webhook ${webhook.name}`}
        question={`Delete "${webhook.name}"? Monitors that name it keep it from being deleted.`}
        onYes={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}

function WebhookForm({ webhook, onEnd }: { webhook: WebhookIntegration | undefined; onEnd(): void }) {
  const client = useClient()
  const keep = useAct(WEBHOOKS, async (body: Parameters<typeof client.integrations.createWebhook>[0]['body']) => {
    if (webhook) await client.integrations.updateWebhook({ params: { webhookId: webhook.id }, body })
    else await client.integrations.createWebhook({ body })
  })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = given(event.currentTarget)
    const headers = headersOf(text('headers'))
    const secret = text('secret')
    keep.mutate(
      {
        name: text('name'),
        url: text('url'),
        custom_headers: headers,
        ...(text('payload') === '' ? {} : { payload: text('payload') }),
        ...(secret === '' ? {} : { signing_secret: secret }),
      },
      { onSuccess: onEnd },
    )
  }
  return (
    <form onSubmit={send} className="flex flex-col gap-2 border-line border-b p-3">
      <div className="flex flex-wrap gap-2">
        <Field name="Name">
          <Input name="name" required maxLength={255} defaultValue={webhook?.name} />
        </Field>
        <Field name="Address" className="min-w-64 flex-1">
          <Input name="url" type="url" required maxLength={2048} defaultValue={webhook?.url} placeholder="https://…" />
        </Field>
        <Field name="Signing secret" help="16 characters or more; empty means unsigned">
          <Input name="secret" minLength={3} maxLength={255} autoComplete="off" defaultValue={webhook?.is_signed ? KEPT : ''} />
        </Field>
      </div>
      <Field name="Headers" help="One in a line, as Name: value. A value *** stays as it is.">
        <TextArea
          name="headers"
          className="font-mono"
          defaultValue={Object.keys(webhook?.custom_headers ?? {})
            .map((name) => `${name}: ${KEPT}`)
            .join('\n')}
        />
      </Field>
      <Field name="Body" help="JSON in which $title, $description and the like are replaced; empty means the plain one.">
        <TextArea name="payload" className="font-mono" maxLength={2048} defaultValue={webhook?.payload} />
      </Field>
      {keep.error && <FailureNote thrown={keep.error} />}
      <div className="flex gap-2">
        <Button type="submit" look="main" disabled={keep.isPending}>
          {webhook ? 'Save' : 'Make the webhook'}
        </Button>
        <Button onClick={onEnd}>Leave it</Button>
      </div>
    </form>
  )
}

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf(':')
      return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
    }),
  )
