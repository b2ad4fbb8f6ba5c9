import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import type { TraceParams } from './params.ts'

/** ViewLinks lead from the list of traces to that of operations, and back, within the same range. */
export function ViewLinks({ params: { ops, r, f, t } }: { params: TraceParams }) {
  const range = { ...(r === undefined ? {} : { r }), ...(f === undefined || t === undefined ? {} : { f, t }) }
  return (
    <nav aria-label="View" className="flex gap-1">
      <Link
        to="/traces"
        search={range}
        aria-current={ops === undefined ? 'page' : undefined}
        className={buttonClass({ variant: ops === undefined ? 'chosen' : 'quiet' })}
      >
        Traces
      </Link>
      <Link
        to="/traces"
        search={{ ...range, ops: true }}
        aria-current={ops ? 'page' : undefined}
        className={buttonClass({ variant: ops ? 'chosen' : 'quiet' })}
      >
        Operations
      </Link>
    </nav>
  )
}
