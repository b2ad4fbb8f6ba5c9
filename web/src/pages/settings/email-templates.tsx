import type { EmailTemplate } from '@dendro/api'
import { Form, FormField } from '../../parts/records/form.tsx'
import { usePagedPanel } from '../../parts/records/paged-panel.tsx'
import { RecordPanel } from '../../parts/records/record-panel.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Input, TextArea } from '../../ui/field.tsx'

const TEMPLATES = ['email templates']
const EXCERPT_CHARS = 120

/** EmailTemplates manages the bodies of e-mail notifications. */
export function EmailTemplates() {
  const client = useClient()
  const { isSearched, ...paged } = usePagedPanel<EmailTemplate>({
    noun: 'e-mail template',
    queryKey: TEMPLATES,
    read: async (query, signal) => {
      const { integrations, ...rest } = await client.integrations.emailTemplates({ query, signal })
      return { records: integrations, ...rest }
    },
  })
  return (
    <RecordPanel
      rights={{ write: 'integrations_write', delete: 'integrations_delete' }}
      title="E-mail templates"
      noun="e-mail template"
      {...paged}
      itemsOf={(templates) => templates}
      stale={TEMPLATES}
      columns={['Name', 'Body']}
      empty={isSearched ? 'No e-mail template matches.' : 'No e-mail templates yet. Notifications use the default body.'}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      cellsOf={({ name, payload }) => [
        name,
        <span key="payload" className="block max-w-md truncate font-mono text-soft text-xs">
          {payload.slice(0, EXCERPT_CHARS)}
        </span>,
      ]}
      form={(template, onEnd) => <TemplateForm template={template} onEnd={onEnd} />}
      deletionOf={({ name }) => `Delete “${name}”? A template that a monitor uses cannot be deleted.`}
      onDelete={({ id }) => client.integrations.removeEmailTemplate({ params: { emailId: id } })}
    />
  )
}

function TemplateForm({ template, onEnd }: { template: EmailTemplate | undefined; onEnd(): void }) {
  const client = useClient()
  return (
    <Form
      action={template ? 'Save' : 'Create template'}
      label={template ? `Edit ${template.name}` : 'New e-mail template'}
      layout="column"
      stale={TEMPLATES}
      conflict="name"
      isDirty={template ? false : undefined}
      onSend={async (text) => {
        const body = { name: text('name'), payload: text('payload') }
        if (template) await client.integrations.updateEmailTemplate({ params: { emailId: template.id }, body })
        else await client.integrations.createEmailTemplate({ body })
      }}
      onSaved={onEnd}
      onCancel={onEnd}
    >
      <FormField name="Name" of="name" className="max-w-96">
        <Input name="name" required maxLength={255} defaultValue={template?.name} />
      </FormField>
      <FormField
        name="Body"
        of="payload"
        help="Text, or HTML if it begins with <. Variables such as $title and $description are replaced, and escaped in HTML."
      >
        <TextArea name="payload" required rows={6} maxLength={8192} className="font-mono" defaultValue={template?.payload} />
      </FormField>
    </Form>
  )
}
