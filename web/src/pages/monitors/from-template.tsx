import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { useFirstTargets } from '../../parts/records/first-targets.ts'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { TargetFields } from '../../parts/records/target-fields.tsx'
import { actionsOf, type FormTarget } from '../../parts/records/targets.ts'
import { BackToMonitors } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { ArgumentFields, type ArgumentTexts, boundTemplate, missingArgument } from '../../parts/templates/argument-fields.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { useMonitorTemplates } from './queries.ts'

/** Collects the parameters of a monitor template and creates a monitor. */
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
  const [edited, setTargets] = useState<readonly FormTarget[]>()
  const firstTargets = useFirstTargets()
  const hasActions = template.actions !== undefined && template.actions !== ''
  // The recipients of the template stay until others are given.
  const targets = edited ?? (hasActions ? [] : (firstTargets ?? []))
  const actions = actionsOf(targets)
  const create = useSave(
    () =>
      client.monitors.create({
        body: {
          template: boundTemplate(template, values),
          ...(name.trim() === '' ? {} : { name: name.trim() }),
          ...(actions.length === 0 ? {} : { actions }),
        },
      }),
    { stale: [['monitors']], onSaved: (monitor) => navigate({ to: '/monitors', search: { id: monitor.id } }) },
  )
  const { comparison_operator, threshold, window, description } = template
  return (
    <EditorPage
      title={`New monitor from “${template.name}”`}
      action="Create monitor"
      needs="monitors_write"
      missing={missingArgument(template, values) ?? (hasActions || actions.length > 0 ? undefined : 'a recipient')}
      isSending={create.isPending}
      failure={create.error}
      back={<BackToMonitors view="templates" />}
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
        <div className="flex flex-col gap-3 p-3">
          <Field name="Name">
            <Input value={name} maxLength={255} placeholder={template.name} onChange={(event) => setName(event.target.value)} />
          </Field>
          <fieldset className="flex flex-col gap-3">
            <legend className="mb-1 text-soft text-xs">Recipients</legend>
            <TargetFields targets={targets} onChange={setTargets} />
          </fieldset>
        </div>
      </Panel>
    </EditorPage>
  )
}
