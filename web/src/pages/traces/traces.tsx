import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Loading } from '../../parts/shell/page.tsx'
import { loadCode } from '../../parts/shell/page-code.ts'
import { OneTrace } from './one-trace.tsx'
import { OperationsPage } from './operations.tsx'
import type { TraceParams } from './params.ts'
import { TraceList } from './trace-list.tsx'

/** The map brings a library that the other views do without. */
const ServiceMapPage = lazy(() =>
  loadCode(() => import('./service-map.tsx')).then(({ ServiceMapPage: component }) => ({ default: component })),
)

/** Shows the trace of the address, the map of services, the list of operations, or that of traces. */
export function TracesPage() {
  const params: TraceParams = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = (by: Partial<TraceParams>) => navigate({ to: '/traces', search: { ...params, ...by }, replace: true })
  if (params.id === undefined && params.map) {
    return (
      <Suspense fallback={<Loading />}>
        <ServiceMapPage params={params} />
      </Suspense>
    )
  }
  if (params.id === undefined && params.ops) return <OperationsPage params={params} />
  if (params.id === undefined) return <TraceList params={params} />
  return <OneTrace key={params.id} id={params.id} params={params} onChange={change} />
}
