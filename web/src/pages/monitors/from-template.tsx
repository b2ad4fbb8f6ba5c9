import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { boundTo, missingIn, TemplateFields, type Typed } from '../../parts/argument-fields.tsx'
import { useClient } from '../../parts/client.ts'
import { Writing } from '../../parts/editor-page.tsx'
import { Panel } from '../../parts/page.tsx'
import { Absent } from '../../parts/records.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { BackToList } from './back-to-list.tsx'
import { useMonitorTemplates } from './queries.ts'

/** FromTemplate takes what a template of monitors asks for, and makes one. */
export function FromTemplate({ id }: { id: string }) {
  const templates = useMonitorTemplates()
  const template = templates.data?.find((one) => one.id === id)
  if (template) return <Form template={template} />
  return <Absent title="From a template" noun="template" of={templates} back={<BackToList view="templates" />} />
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
          template: boundTo(template, typed),
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
    <Writing
      title={`From the template “${template.name}”`}
      action="Create the monitor"
      missing={missingIn(template, typed) ?? (hasActions || email.trim() !== '' ? undefined : 'somebody to tell')}
      isSending={create.isPending}
      failure={create.error}
      leave={
        <Link to="/monitors" search={{ view: 'templates' }}>
          Leave it
        </Link>
      }
      onSend={() => create.mutate()}
    >
      <Panel title="What it asks for">
        <div className="flex flex-col gap-3 p-3">
          <TemplateFields parameters={template.parameters} typed={typed} onType={setTyped} />
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
          <Field name="Tell by e-mail">
            <Input type="email" value={email} placeholder="oncall@example.org" onChange={(event) => setEmail(event.target.value)} />
          </Field>
        </div>
      </Panel>
    </Writing>
  )
}
