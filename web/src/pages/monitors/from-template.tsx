import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ArgumentFields, type ArgumentTexts, boundTemplate, missingArgument } from '../../parts/argument-fields.tsx'
import { BackToMonitors } from '../../parts/back-links.tsx'
import { useClient } from '../../parts/client.ts'
import { EditorPage } from '../../parts/editor-page.tsx'
import { Panel } from '../../parts/page.tsx'
import { MissingRecord } from '../../parts/records.tsx'
import { useSave } from '../../parts/save.ts'
import { Field, Input } from '../../ui/field.tsx'
import { useMonitorTemplates } from './queries.ts'

/** FromTemplate collects the parameters of a monitor template and creates a monitor. */
export function FromTemplate({ id }: { id: string }) {
  const templates = useMonitorTemplates()
  const template = templates.data?.find((one) => one.id === id)
  if (template) return <Form template={template} />
  return <MissingRecord title="New monitor from a template" noun="template" of={templates} back={<BackToMonitors view="templates" />} />
}

type Template = NonNullable<ReturnType<typeof useMonitorTemplates>['data']>[number]

function Form({ template }: { template: Template }) {
  const client = useClient()
  const navigate = useNavigate()
  const [values, setValues] = useState<ArgumentTexts>({})
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const hasActions = template.actions !== undefined && template.actions !== ''
  const create = useSave(
    () =>
      client.monitors.create({
        body: {
          template: boundTemplate(template, values),
          ...(name.trim() === '' ? {} : { name: name.trim() }),
          ...(email.trim() === '' ? {} : { actions: [{ email: email.trim() }] }),
        },
      }),
    { stale: [['monitors']], onSaved: (monitor) => navigate({ to: '/monitors', search: { id: monitor.id } }) },
  )
  const { comparison_operator, threshold, window, description } = template
  return (
    <EditorPage
      title={`New monitor from “${template.name}”`}
      action="Create monitor"
      missing={missingArgument(template, values) ?? (hasActions || email.trim() !== '' ? undefined : 'a recipient')}
      isSending={create.isPending}
      failure={create.error}
      cancel={
        <Link to="/monitors" search={{ view: 'templates' }}>
          Cancel
        </Link>
      }
      onSend={() => create.mutate()}
    >
      <Panel title="Parameters">
        <div className="flex flex-col gap-3 p-3">
          <ArgumentFields parameters={template.parameters} typed={values} onType={setValues} />
          <p className="text-soft text-xs">
            {[description, `${comparison_operator.toLowerCase().replaceAll('_', ' ')} ${threshold} in the ${window.toLowerCase()}`]
              .filter(Boolean)
              .join(' · ')}
          </p>
        </div>
      </Panel>
      <Panel title="Overrides of the template">
        <div className="grid gap-3 p-3 sm:grid-cols-2">
          <Field name="Name">
            <Input value={name} maxLength={255} placeholder={template.name} onChange={(event) => setName(event.target.value)} />
          </Field>
          <Field name="Notify by e-mail">
            <Input type="email" value={email} placeholder="oncall@example.org" onChange={(event) => setEmail(event.target.value)} />
          </Field>
        </div>
      </Panel>
    </EditorPage>
  )
}
