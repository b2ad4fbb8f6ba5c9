import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ArgumentFields, boundTemplate, missingArgument, type Typed } from '../../parts/argument-fields.tsx'
import { BackToDashboards } from '../../parts/back-links.tsx'
import { useClient } from '../../parts/client.ts'
import { EditorPage } from '../../parts/editor-page.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { MissingRecord } from '../../parts/records.tsx'
import { useDashboardTemplates } from './queries.ts'

/** FromTemplate collects the parameters of a template, previews the dashboard and creates it. */
export function FromTemplate({ id }: { id: string }) {
  const templates = useDashboardTemplates()
  const template = templates.data?.find((one) => one.id === id)
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState<Typed>({})
  const asking = { id, parameters: template?.parameters ?? {} }
  const lacking = missingArgument(asking, typed)
  const isWhole = template !== undefined && lacking === undefined
  const bound = boundTemplate(asking, typed)
  const preview = useQuery({
    queryKey: ['dashboard preview', bound],
    enabled: isWhole,
    queryFn: ({ signal }) => client.dashboards.preview({ body: { template: bound }, signal, repeatable: true }),
  })
  const create = useMutation({
    mutationFn: () => client.dashboards.create({ body: { template: bound } }),
    onSuccess: async (made) => {
      for (const queryKey of [['dashboards'], ['widgets'], ['metric definitions']]) await queries.invalidateQueries({ queryKey })
      await navigate({ to: '/dashboards', search: { id: made.id } })
    },
  })
  if (!template)
    return <MissingRecord title="From a template" noun="template" of={templates} back={<BackToDashboards view="templates" />} />
  return (
    <EditorPage
      title={`From the template “${template.name}”`}
      action="Create dashboard"
      missing={lacking}
      isSending={create.isPending}
      failure={create.error}
      cancel={
        <Link to="/dashboards" search={{ view: 'templates' }}>
          Cancel
        </Link>
      }
      onSend={() => create.mutate()}
      preview={
        <Panel title="Preview">
          <div className="p-3">
            {!isWhole && <p className="text-soft">Fill in what it asks for.</p>}
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
          <ArgumentFields parameters={template.parameters} typed={typed} onType={setTyped} />
        </div>
      </Panel>
    </EditorPage>
  )
}
