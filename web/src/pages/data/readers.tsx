import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Loaded } from '../../parts/records/records.tsx'
import { StatusMark } from '../../parts/records/status.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'

/** Lists the monitors and dashboards that query a dataset. */
export function Readers({ id }: { id: string }) {
  const client = useClient()
  const params = { logId: id }
  const monitors = useQuery({ queryKey: ['monitors of', id], queryFn: ({ signal }) => client.logs.monitors({ params, signal }) })
  const dashboards = useQuery({ queryKey: ['dashboards of', id], queryFn: ({ signal }) => client.logs.dashboards({ params, signal }) })
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title="Monitors of this dataset">
        <Loaded of={monitors}>
          {(list) =>
            list.length === 0 ? (
              <p className="px-3 py-4 text-soft">No monitor queries this dataset.</p>
            ) : (
              <ul className="flex flex-col gap-1 p-3">
                {list.map((one) => (
                  <li key={one.id} className="flex items-center gap-2">
                    <StatusMark status={one.status} />
                    <Link to="/monitors" search={{ id: one.id }} className="min-w-0 break-words text-accent hover:underline">
                      {one.name}
                    </Link>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Dashboards of this dataset">
        <Loaded of={dashboards}>
          {(list) =>
            list.length === 0 ? (
              <p className="px-3 py-4 text-soft">No dashboard queries this dataset.</p>
            ) : (
              <ul className="flex flex-col gap-1 p-3">
                {list.map((one) => (
                  <li key={one.id}>
                    <Link to="/dashboards" search={{ id: one.id }} className="break-words text-accent hover:underline">
                      {one.name}
                    </Link>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
    </div>
  )
}
