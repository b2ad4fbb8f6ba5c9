import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { BackToDashboards } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { ArgumentFields, type ArgumentTexts, boundTemplate, missingArgument } from '../../parts/templates/argument-fields.tsx'
import { useDashboardTemplates } from './queries.ts'

/** Collects the parameters of a template, previews the dashboard and creates it. */
export function FromTemplate({ id }: { id: string }) {
  const templates = useDashboardTemplates()
  const template = templates.data?.find((one) => one.id === id)
  const client = useClient()
  const navigate = useNavigate()
  const [values, setValues] = useState<ArgumentTexts>({})
  const source = { id, parameters: template?.parameters ?? {} }
  const lacking = missingArgument(source, values)
  const isWhole = template !== undefined && lacking === undefined
  const bound = boundTemplate(source, values)
  const preview = useQuery({
    queryKey: ['dashboard preview', bound],
    enabled: isWhole,
    queryFn: ({ signal }) => client.dashboards.preview({ body: { template: bound }, signal, repeatable: true }),
  })
  const create = useSave(() => client.dashboards.create({ body: { template: bound } }), {
    stale: [['dashboards'], ['widgets'], ['metric definitions']],
    onSaved: (dashboard) => navigate({ to: '/dashboards', search: { id: dashboard.id } }),
  })
  if (!template)
    return (
      <MissingRecord title="New dashboard from a template" noun="template" of={templates} back={<BackToDashboards view="templates" />} />
    )
  return (
    <EditorPage
      title={`New dashboard from “${template.name}”`}
      action="Create dashboard"
      needs="dashboards_write"
      missing={lacking}
      isSending={create.isPending}
      failure={create.error}
      back={<BackToDashboards view="templates" />}
      cancel={
        <Link to="/dashboards" search={{ view: 'templates' }}>
          Cancel
        </Link>
      }
      onSend={() => create.mutate()}
      preview={
        <Panel title="Preview">
          <div className="p-3">
            {!isWhole && <p className="text-soft">Enter the parameters to see a preview.</p>}
            {preview.error && <FailureNote thrown={preview.error} again={() => preview.refetch()} />}
            {preview.data && (
              <>
                <p className="font-medium">{preview.data.name}</p>
                <ul className="list-disc pl-5">
                  {preview.data.widgets.map(({ name, type }) => (
                    <li key={`${name} ${type}`}>
                      {name} <span className="text-soft text-xs">{type}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </div>
        </Panel>
      }
    >
      <Panel title="Parameters">
        <div className="flex flex-col gap-3 p-3">
          <ArgumentFields parameters={template.parameters} typed={values} onType={setValues} />
        </div>
      </Panel>
    </EditorPage>
  )
}
