import { useNavigate } from '@tanstack/react-router'
import { Button } from '../../../ui/button.tsx'
import type { ExploreParams } from '../explore-params.ts'

/** CreateMonitorButton opens the monitor editor with this query. */
export function CreateMonitorButton({ params }: { params: ExploreParams }) {
  const navigate = useNavigate()
  const { d, q, r, f, t, by, fn } = params
  const query = {
    ...(d ? { d } : {}),
    ...(q ? { q } : {}),
    ...(by ? { groups: by } : {}),
    ...(fn ? { fn } : {}),
    ...(f !== undefined && t !== undefined ? { f, t } : { r: r ?? 'Last 15 minutes' }),
  }
  return (
    <Button title="Create a monitor from this query" onClick={() => navigate({ to: '/monitors', search: { edit: 'new', ...query } })}>
      Create monitor
    </Button>
  )
}
