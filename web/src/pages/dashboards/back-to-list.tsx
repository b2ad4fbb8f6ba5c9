import { Link } from '@tanstack/react-router'
import type { DashboardParams } from './params.ts'

const names = { dashboards: 'All dashboards', metrics: 'All metrics', templates: 'All templates' }

/** BackToList leads to all dashboards, or to all of what they are made of. */
export const BackToList = ({ view }: Pick<DashboardParams, 'view'>) => (
  <Link to="/dashboards" search={view ? { view } : {}} className="px-2 text-accent hover:underline">
    {names[view ?? 'dashboards']}
  </Link>
)

/** BackToDashboard leads to the dashboard that something stands on. */
export const BackToDashboard = ({ id }: { id: string }) => (
  <Link to="/dashboards" search={{ id }} className="px-2 text-accent hover:underline">
    The dashboard
  </Link>
)
