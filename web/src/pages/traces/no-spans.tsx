import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { EmptyState } from '../../parts/shell/page.tsx'
import { buttonClass } from '../../ui/button.tsx'

type NoSpansProps = { title?: string; children?: ReactNode }

/** Replaces a view of traces without spans in its range, and leads to sending some. */
export const NoSpans = ({ title = 'No spans in this range', children }: NoSpansProps) => (
  <EmptyState title={title}>
    <p className="text-soft">Services appear when they send spans with OpenTelemetry, Zipkin or Jaeger. Try a longer range.</p>
    <div className="flex flex-wrap justify-center gap-2">
      {children}
      <Link to="/welcome" search={{}} className={buttonClass({ variant: 'main' })}>
        Send data
      </Link>
    </div>
  </EmptyState>
)
