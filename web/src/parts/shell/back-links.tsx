import { Link } from '@tanstack/react-router'

const className = 'hover:text-ink hover:underline'
const dashboardViews = { dashboards: 'All dashboards', metrics: 'All metrics', templates: 'All templates' }

/** Links to the list of dashboards, of metrics, or of their templates. */
export const BackToDashboards = ({ view }: { view?: 'metrics' | 'templates' }) => (
  <Link to="/dashboards" search={view ? { view } : {}} className={className}>
    {dashboardViews[view ?? 'dashboards']}
  </Link>
)

/** Links to the dashboard of a widget or frame. */
export const BackToDashboard = ({ id }: { id: string }) => (
  <Link to="/dashboards" search={{ id }} className={className}>
    Back to the dashboard
  </Link>
)

/** Links to the list of monitors, or of their templates. */
export const BackToMonitors = ({ view }: { view?: 'templates' }) => (
  <Link to="/monitors" search={view ? { view } : {}} className={className}>
    {view ? 'All templates' : 'All monitors'}
  </Link>
)

/** Links to the list of datasets. */
export const BackToDatasets = () => (
  <Link to="/data" search={{}} className={className}>
    All datasets
  </Link>
)
