import { Link } from '@tanstack/react-router'
import { rangeParamsOf } from '../time/range-params.ts'
import type { Range } from '../time/time-range.ts'

const dashboardViews = { dashboards: 'All dashboards', metrics: 'All metrics', templates: 'All templates' }

/** Links to the list of dashboards, of metrics, or of their templates. */
export const BackToDashboards = ({ view }: { view?: 'metrics' | 'templates' }) => (
  <Link to="/dashboards" search={view ? { view } : {}}>
    {dashboardViews[view ?? 'dashboards']}
  </Link>
)

/** Links to the dashboard of a widget or frame. */
export const BackToDashboard = ({ id, range }: { id: string; range?: Range }) => (
  <Link to="/dashboards" search={{ id, ...(range && rangeParamsOf(range)) }}>
    Back to the dashboard
  </Link>
)

/** Links to the list of monitors, or of their templates. */
export const BackToMonitors = ({ view }: { view?: 'templates' }) => (
  <Link to="/monitors" search={view ? { view } : {}}>
    {view ? 'All templates' : 'All monitors'}
  </Link>
)

/** Links to the list of datasets. */
export const BackToDatasets = () => (
  <Link to="/data" search={{}}>
    All datasets
  </Link>
)

/** Links to the list of downtimes. */
export const BackToDowntimes = () => (
  <Link to="/downtimes" search={{}}>
    All downtimes
  </Link>
)
