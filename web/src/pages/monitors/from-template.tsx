import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ArgumentFields, boundTemplate, missingArgument, type Typed } from '../../parts/argument-fields.tsx'
import { BackToMonitors } from '../../parts/back-links.tsx'
import { useClient } from '../../parts/client.ts'
import { EditorPage } from '../../parts/editor-page.tsx'
import { Panel } from '../../parts/page.tsx'
import { MissingRecord } from '../../parts/records.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { useMonitorTemplates } from './queries.ts'

/** FromTemplate collects the parameters of a monitor template and creates a monitor. */
export function FromTemplate({ id }: { id: string }) {
  const templates = useMonitorTemplates()
  const template = templates.data?.find((one) => one.id === id)
  if (template) return <Form template={template} />
  return <MissingRecord title="From a template" noun="template" of={templates} back={<BackToMonitors view="templates" />} />
}

type Template = NonNullable<ReturnType<typeof useMonitorTemplates>['data']>[number]

function Form({ template }: { template: Template }) {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState<Typed>({})
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const hasActions = template.actions !== undefined && template.actions !== ''
  const create = useMutation({
    mutationFn: () =>
      client.monitors.create({
        body: {
          template: boundTemplate(template, typed),
          ...(name.trim() === '' ? {} : { name: name.trim() }),
          ...(email.trim() === '' ? {} : { actions: [{ email: email.trim() }] }),
        },
      }),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['monitors'] })
      await navigate({ to: '/monitors', search: { id: made.id } })
    },
  })
  const { comparison_operator, threshold, window, description } = template
  return (
    <EditorPage
      title={`From the template “${template.name}”`}
      action="Create monitor"
      missing={missingArgument(template, typed) ?? (hasActions || email.trim() !== '' ? undefined : 'a recipient')}
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
          <ArgumentFields parameters={template.parameters} typed={typed} onType={setTyped} />
          <p className="text-soft text-xs">
            {[description, `${comparison_operator.toLowerCase().replaceAll('_', ' ')} ${threshold} in the ${window.toLowerCase()}`]
              .filter(Boolean)
              .join(' · ')}
          </p>
        </div>
      </Panel>
      <Panel title="In place of what the template says">
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
