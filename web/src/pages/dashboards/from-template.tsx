import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { Nothing, Page, Panel, Waiting } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { argumentOf } from './arguments.ts'
import { useTemplates } from './questions.ts'

/** FromTemplate takes what a template asks for, shows what would be made, and makes it. */
export function FromTemplate({ id }: { id: string }) {
  const templates = useTemplates()
  const template = templates.data?.find((one) => one.id === id)
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [texts, setTexts] = useState<Record<string, string>>({})
  const parameters = Object.entries(template?.parameters ?? {})
  const isWhole = template !== undefined && parameters.every(([name]) => (texts[name] ?? '').trim() !== '')
  const bound = { id, arguments: Object.fromEntries(parameters.map(([name, { type }]) => [name, argumentOf(type, texts[name] ?? '')])) }
  const preview = useQuery({
    queryKey: ['dashboard preview', bound],
    enabled: isWhole,
    queryFn: ({ signal }) => client.dashboards.preview({ body: { template: bound }, signal, repeatable: true }),
  })
  const create = useMutation({
    mutationFn: () => client.dashboards.create({ body: { template: bound } }),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['dashboards'], exact: true })
      await navigate({ to: '/dashboards', search: { id: made.id } })
    },
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  if (templates.error)
    return <Page title="From a template">{<FailureNote thrown={templates.error} again={() => templates.refetch()} />}</Page>
  if (!templates.data) {
    return (
      <Page title="From a template">
        <Waiting>Reading the templates …</Waiting>
      </Page>
    )
  }
  if (!template) {
    return (
      <Page title="From a template">
        <Nothing title="This template is gone" />
      </Page>
    )
  }
  return (
    <Page title={`From the template “${template.name}”`}>
      <form onSubmit={send} className="grid max-w-5xl items-start gap-4 lg:grid-cols-2">
        <Panel title="What it asks for">
          <div className="flex flex-col gap-3 p-3">
            {parameters.length === 0 && <p className="text-soft">Nothing.</p>}
            {parameters.map(([name, { type, description }]) => {
              const control = {
                value: texts[name] ?? '',
                required: true,
                onChange: (event: { target: { value: string } }) => setTexts({ ...texts, [name]: event.target.value }),
              }
              return (
                <Field key={name} name={name} help={[description, hints[type]].filter(Boolean).join(' · ')}>
                  {type === 'OBJECT_LIST' ? <TextArea {...control} /> : <Input {...control} />}
                </Field>
              )
            })}
          </div>
        </Panel>
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
        <div className="flex items-center gap-2">
          <Button type="submit" look="main" disabled={!isWhole || create.isPending}>
            {create.isPending ? 'Making it …' : 'Make the dashboard'}
          </Button>
          <Link to="/dashboards" search={{}} className="px-2 text-accent hover:underline">
            Leave it
          </Link>
        </div>
        {create.error && <FailureNote thrown={create.error} />}
      </form>
    </Page>
  )
}

const hints = {
  STRING: '',
  STRING_LIST: 'several, with commas between',
  DOUBLE: 'a number',
  BOOLEAN: 'true or false',
  OBJECT_LIST: 'a list as JSON',
} as const
