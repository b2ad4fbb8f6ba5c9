import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { boundTo, missingIn, TemplateFields, type Typed } from '../../parts/argument-fields.tsx'
import { useClient } from '../../parts/client.ts'
import { Writing } from '../../parts/editor-page.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Panel } from '../../parts/page.tsx'
import { Absent } from '../../parts/records.tsx'
import { BackToList } from './back-to-list.tsx'
import { useDashboardTemplates } from './queries.ts'

/** FromTemplate takes what a template asks for, shows what would be made, and makes it. */
export function FromTemplate({ id }: { id: string }) {
  const templates = useDashboardTemplates()
  const template = templates.data?.find((one) => one.id === id)
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState<Typed>({})
  const asking = { id, parameters: template?.parameters ?? {} }
  const lacking = missingIn(asking, typed)
  const isWhole = template !== undefined && lacking === undefined
  const bound = boundTo(asking, typed)
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
  if (!template) return <Absent title="From a template" noun="template" of={templates} back={<BackToList view="templates" />} />
  return (
    <Writing
      title={`From the template “${template.name}”`}
      action="Make the dashboard"
      missing={lacking}
      isSending={create.isPending}
      failure={create.error}
      leave={
        <Link to="/dashboards" search={{ view: 'templates' }}>
          Leave it
        </Link>
      }
      onSend={() => create.mutate()}
      beside={
        <Panel title="What it makes">
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
      <Panel title="What it asks for">
        <div className="flex flex-col gap-3 p-3">
          <TemplateFields parameters={template.parameters} typed={typed} onType={setTyped} />
        </div>
      </Panel>
    </Writing>
  )
}
