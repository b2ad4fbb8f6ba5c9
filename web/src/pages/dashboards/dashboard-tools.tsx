import type { Dashboard } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'
import { useDashboardChange } from './queries.ts'
import { SaveDashboardTemplate } from './save-dashboard-template.tsx'

/** DashboardTools rename, save as a template, detach and delete a dashboard. */
export function DashboardTools({ dashboard }: { dashboard: Dashboard }) {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const change = useDashboardChange(dashboard.id)
  const [isOpen, setOpen] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    setFailure(undefined)
    change({ name: text('name'), description: text('description') }).then(() => setOpen(false), setFailure)
  }
  const remove = async () => {
    await client.dashboards.remove({ params: { dashboardId: dashboard.id } })
    queries.setQueryData(['dashboards'], (list: readonly Dashboard[] | undefined) => list?.filter(({ id }) => id !== dashboard.id))
    await navigate({ to: '/dashboards', search: {} })
    await queries.invalidateQueries({ queryKey: ['dashboards'], exact: true })
  }
  const form: ReactNode = (
    <form onSubmit={send} className="flex w-64 max-w-full flex-col gap-2">
      <Field name="Name">
        <Input name="name" required maxLength={255} defaultValue={dashboard.name} />
      </Field>
      <Field name="Description">
        <TextArea name="description" maxLength={1_024} defaultValue={dashboard.description ?? ''} />
      </Field>
      <Button type="submit" variant="main">
        Save
      </Button>
      {failure !== undefined && <FailureNote thrown={failure} />}
    </form>
  )
  const detach = async () => {
    queries.setQueryData(['dashboards', dashboard.id], await client.dashboards.detach({ params: { dashboardId: dashboard.id } }))
  }
  return (
    <>
      {dashboard.template && (
        <Confirm
          needs="dashboards_write"
          action="Detach"
          message="Detach this dashboard from its template? Its widgets stay as they are."
          onYes={detach}
        />
      )}
      <Permitted to="dashboards_write">
        <SaveDashboardTemplate dashboard={dashboard} />
        <Popover label="Rename" open={isOpen} onOpenChange={setOpen} trigger={<Button>Rename</Button>}>
          {form}
        </Popover>
      </Permitted>
      <Confirm
        needs="dashboards_delete"
        action="Delete"
        message={`Delete “${dashboard.name}” and its widgets, except those on other dashboards?`}
        onYes={remove}
      />
    </>
  )
}
