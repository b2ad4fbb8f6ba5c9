import type { EmailTemplate } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, useAction } from '../../parts/records.tsx'
import { Button } from '../../ui/button.tsx'
import { Input, TextArea } from '../../ui/field.tsx'

const TEMPLATES = ['email templates']

/** EmailTemplates manages the bodies of e-mail notifications. */
export function EmailTemplates() {
  const client = useClient()
  const list = useQuery({ queryKey: TEMPLATES, queryFn: ({ signal }) => client.integrations.emailTemplates({ signal }) })
  const [isMaking, setMaking] = useState(false)
  return (
    <Panel title="E-mail templates" actions={!isMaking && <Button onClick={() => setMaking(true)}>New template</Button>}>
      {isMaking && <TemplateForm template={undefined} onEnd={() => setMaking(false)} />}
      <Answer of={list}>
        {({ integrations }) => (
          <Rows label="E-mail templates" heads={['Name', 'Text']} empty="No template yet: e-mails have the plain form.">
            {integrations.map((one) => (
              <TemplateRow key={one.id} template={one} />
            ))}
          </Rows>
        )}
      </Answer>
    </Panel>
  )
}

function TemplateRow({ template }: { template: EmailTemplate }) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const { id, name, payload } = template
  const remove = useAction(TEMPLATES, () => client.integrations.removeEmailTemplate({ params: { emailId: id } }))
  return (
    <Row
      cells={[
        name,
        <span key="payload" className="block max-w-md truncate font-mono text-soft text-xs">
          {payload.slice(0, 120)}
        </span>,
      ]}
      below={isEdited && <TemplateForm template={template} onEnd={() => setEdited(false)} />}
    >
      <ChangeAndDelete
        isEdited={isEdited}
        onEdit={setEdited}
        label={`Delete ${name}`}
        message={`Delete "${name}"? Monitors that name it keep it from being deleted.`}
        onDelete={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}

function TemplateForm({ template, onEnd }: { template: EmailTemplate | undefined; onEnd(): void }) {
  const client = useClient()
  return (
    <Form
      action={template ? 'Save' : 'Create template'}
      label={template ? `Change ${template.name}` : 'New template'}
      shape="column"
      reads={TEMPLATES}
      conflict="name"
      className={template ? '' : 'border-line border-b'}
      onSend={async (text) => {
        const body = { name: text('name'), payload: text('payload') }
        if (template) await client.integrations.updateEmailTemplate({ params: { emailId: template.id }, body })
        else await client.integrations.createEmailTemplate({ body })
      }}
      onDone={onEnd}
      onLeave={onEnd}
    >
      <FormField name="Name" of="name" className="max-w-96">
        <Input name="name" required maxLength={255} defaultValue={template?.name} />
      </FormField>
      <FormField
        name="Text"
        of="payload"
        help="$title, $description and the like are replaced. What begins with < is HTML, and values in it are escaped."
      >
        <TextArea name="payload" required rows={6} maxLength={8192} className="font-mono" defaultValue={template?.payload} />
      </FormField>
    </Form>
  )
}
