import type { EmailTemplate } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { Answer, given, Row, Rows, useAct } from './rows.tsx'

const TEMPLATES = ['email templates']

/** EmailTemplates are the bodies of e-mails that notify. */
export function EmailTemplates() {
  const client = useClient()
  const list = useQuery({ queryKey: TEMPLATES, queryFn: ({ signal }) => client.integrations.emailTemplates({ signal }) })
  const remove = useAct(TEMPLATES, (emailId: string) => client.integrations.removeEmailTemplate({ params: { emailId } }))
  const [edited, setEdited] = useState<EmailTemplate | 'new'>()
  return (
    <Panel title="E-mail templates" actions={edited === undefined && <Button onClick={() => setEdited('new')}>New template</Button>}>
      {edited !== undefined && (
        <TemplateForm
          key={edited === 'new' ? 'new' : edited.id}
          template={edited === 'new' ? undefined : edited}
          onEnd={() => setEdited(undefined)}
        />
      )}
      <Answer of={list}>
        {({ integrations }) => (
          <Rows label="E-mail templates" heads={['Name', 'Begins with']} empty="No template yet: e-mails have the plain form.">
            {integrations.map((one) => (
              <Row
                key={one.id}
                cells={[
                  one.name,
                  <span key="payload" className="block max-w-md truncate font-mono text-soft text-xs">
                    {one.payload.slice(0, 120)}
                  </span>,
                ]}
              >
                <Button size="small" onClick={() => setEdited(one)}>
                  Change
                </Button>
                <Confirm
                  size="small"
                  action="Delete"
                  label={`Delete ${one.name}`}
                  question={`Delete "${one.name}"?`}
                  onYes={() => remove.mutateAsync(one.id)}
                />
              </Row>
            ))}
          </Rows>
        )}
      </Answer>
    </Panel>
  )
}

function TemplateForm({ template, onEnd }: { template: EmailTemplate | undefined; onEnd(): void }) {
  const client = useClient()
  const keep = useAct(TEMPLATES, async (body: { name: string; payload: string }) => {
    if (template) await client.integrations.updateEmailTemplate({ params: { emailId: template.id }, body })
    else await client.integrations.createEmailTemplate({ body })
  })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = given(event.currentTarget)
    keep.mutate({ name: text('name'), payload: text('payload') }, { onSuccess: onEnd })
  }
  return (
    <form onSubmit={send} className="flex flex-col gap-2 border-line border-b p-3">
      <Field name="Name">
        <Input name="name" required maxLength={255} defaultValue={template?.name} />
      </Field>
      <Field name="Text" help="$title, $description and the like are replaced. What begins with < is HTML, and values in it are escaped.">
        <TextArea name="payload" required rows={6} maxLength={8192} className="font-mono" defaultValue={template?.payload} />
      </Field>
      {keep.error && <FailureNote thrown={keep.error} />}
      <div className="flex gap-2">
        <Button type="submit" look="main" disabled={keep.isPending}>
          {template ? 'Save' : 'Make the template'}
        </Button>
        <Button onClick={onEnd}>Leave it</Button>
      </div>
    </form>
  )
}
