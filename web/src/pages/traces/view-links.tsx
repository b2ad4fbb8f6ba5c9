import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import { linkRange, type TraceParams } from './params.ts'

const views = [
  { name: 'Traces', search: {} },
  { name: 'Operations', search: { ops: true } },
  { name: 'Map', search: { map: true } },
] as const

/** ViewLinks lead from one of the views of traces to the others, within the same range. */
export function ViewLinks({ params }: { params: TraceParams }) {
  const current = params.map ? 'Map' : params.ops ? 'Operations' : 'Traces'
  return (
    <nav aria-label="View" className="flex gap-1">
      {views.map(({ name, search }) => (
        <Link
          key={name}
          to="/traces"
          search={{ ...linkRange(params), ...search }}
          aria-current={name === current ? 'page' : undefined}
          className={buttonClass({ variant: name === current ? 'chosen' : 'quiet' })}
        >
          {name}
        </Link>
      ))}
    </nav>
  )
}
