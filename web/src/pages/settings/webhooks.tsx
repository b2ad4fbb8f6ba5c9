import type { WebhookIntegration } from '@dendro/api'
import { useMutation } from '@tanstack/react-query'
import { Form, FormField, type TextOf } from '../../parts/records/form.tsx'
import { usePagedPanel } from '../../parts/records/paged-panel.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Button } from '../../ui/button.tsx'
import { Input, TextArea } from '../../ui/field.tsx'

const WEBHOOKS = ['webhooks']
/** STORED is the placeholder of a secret that is not shown and stays unchanged. */
const STORED = '***'

/** Webhooks manages the webhooks that receive notifications. */
export function Webhooks() {
  const client = useClient()
  const { isSearched, ...paged } = usePagedPanel<WebhookIntegration>({
    noun: 'webhook',
    queryKey: WEBHOOKS,
    read: async (query, signal) => {
      const { integrations, ...rest } = await client.integrations.webhooks({ query, signal })
      return { records: integrations, ...rest }
    },
  })
  return (
    <RecordPanel
      rights={{ write: 'integrations_write', delete: 'integrations_delete' }}
      title="Webhooks"
      noun="webhook"
      {...paged}
      itemsOf={(webhooks) => webhooks}
      stale={WEBHOOKS}
      columns={['Name', 'URL', 'Signed']}
      empty={isSearched ? 'No webhook matches.' : 'No webhooks yet. A webhook receives the notifications of monitors.'}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      cellsOf={({ name, url, is_signed }) => [
        name,
        <span key="url" className="break-all font-mono text-xs">
          {url}
        </span>,
        is_signed ? 'yes' : 'no',
      ]}
      form={(webhook, onEnd) => <WebhookForm webhook={webhook} onEnd={onEnd} />}
      actionsOf={(webhook) => <WebhookTest webhook={webhook} />}
      deletionOf={({ name }) => `Delete “${name}”? A webhook that a monitor uses cannot be deleted.`}
      onDelete={({ id }) => client.integrations.removeWebhook({ params: { webhookId: id } })}
    />
  )
}

/** WebhookTest sends a test notification and shows the result. */
function WebhookTest({ webhook }: { webhook: WebhookIntegration }) {
  const client = useClient()
  const test = useMutation({ mutationFn: () => client.integrations.testWebhook({ params: { webhookId: webhook.id } }) })
  const isDelivered = test.data?.delivered === true
  const result = test.data
    ? isDelivered
      ? `delivered, ${test.data.status}`
      : (test.data.failure_reason ?? 'not delivered')
    : test.error?.message
  return (
    <>
      {result && (
        <span role="status" className={`self-center text-xs ${isDelivered ? 'text-accent' : 'text-error'}`}>
          {result}
        </span>
      )}
      <Button size="small" disabled={test.isPending} onClick={() => test.mutate()}>
        {test.isPending ? 'Testing…' : 'Test'}
      </Button>
    </>
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
      label={webhook ? `Edit ${webhook.name}` : 'New webhook'}
      layout="column"
      stale={WEBHOOKS}
      conflict="name"
      isDirty={webhook ? false : undefined}
      onSend={send}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <div className="flex flex-wrap gap-2">
        <FormField name="Name" of="name">
          <Input name="name" required maxLength={255} defaultValue={webhook?.name} />
        </FormField>
        <FormField name="URL" of="url" className="min-w-64 flex-1">
          <Input name="url" type="url" required maxLength={2048} defaultValue={webhook?.url} placeholder="https://…" />
        </FormField>
        <FormField name="Signing secret" of="signing_secret" help="16 characters or more; unsigned if empty">
          <Input name="secret" minLength={3} maxLength={255} autoComplete="off" defaultValue={webhook?.is_signed ? STORED : ''} />
        </FormField>
      </div>
      <FormField name="Headers" of="custom_headers" help="One per line, as Name: value. The value *** keeps the stored one.">
        <TextArea
          name="headers"
          className="font-mono"
          defaultValue={Object.keys(webhook?.custom_headers ?? {})
            .map((name) => `${name}: ${STORED}`)
            .join('\n')}
        />
      </FormField>
      <FormField name="Body" of="payload" help="JSON with variables such as $title and $description; the default body if empty.">
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
