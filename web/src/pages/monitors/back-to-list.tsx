import { Link } from '@tanstack/react-router'
import type { MonitorParams } from './params.ts'

/** BackToList leads to all monitors, or to all templates of them. */
export const BackToList = ({ view }: Pick<MonitorParams, 'view'>) => (
  <Link to="/monitors" search={view ? { view } : {}} className="px-2 text-accent hover:underline">
    {view ? 'All templates' : 'All monitors'}
  </Link>
)
