import type { Trace } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'

type Span = Trace['spans'][number]
type TraceLog = Trace['logs'][number]
const AROUND_MS = 60_000

type SpanDetailProps = { trace: Trace; span: Span; logs: readonly TraceLog[]; onClose(): void }

/** Shows the attributes, events, links and log events of one span. */
export function SpanDetail({ trace, span, logs, onClose }: SpanDetailProps) {
  const fromMs = trace.start_time - AROUND_MS
  const toMs = trace.start_time + Math.ceil(trace.duration_nano / 1e6) + AROUND_MS
  return (
    <aside
      aria-label="Span details"
      className="max-h-[70vh] w-96 shrink-0 2xl:w-lg overflow-auto rounded-md border border-line bg-panel p-3 text-xs max-lg:w-full"
    >
      <header className="mb-2 flex items-start gap-2">
        <h2 className="wrap-anywhere min-w-0 font-semibold text-sm">{span.name}</h2>
        <Button size="small" variant="quiet" className="ml-auto" onClick={onClose}>
          Close
        </Button>
      </header>
      {span.status === 'error' && <p className="mb-2 text-error">Failed{span.status_message ? `: ${span.status_message}` : ''}</p>}
      {span.parent === 'missing' && <p className="mb-2 text-warn">Its parent {span.parent_span_id} has not arrived.</p>}
      {span.skew_nano !== undefined && (
        <p className="mb-2 text-warn">
          Its clock disagrees with that of its parent; {durationText(span.skew_nano)} were added to its start.
        </p>
      )}
      <Pairs
        of={[
          ['Service', span.service],
          ['Duration', durationText(span.duration_nano)],
          ['Own time', durationText(span.self_nano)],
          ['On the critical path', durationText(span.critical_nano)],
          ['Starts after', durationText(span.start_nano)],
          ['Kind', span.kind.replace('SPAN_KIND_', '').toLowerCase()],
          ['Span id', span.span_id],
        ]}
      />
      <p className="my-2">
        <Link
          to="/explore"
          search={{ q: `trace_id = '${trace.trace_id}' AND span_id = '${span.span_id}'`, f: fromMs, t: toMs }}
          className="text-accent underline"
        >
          Log events in Explore
        </Link>
      </p>
      {logs.length > 0 && (
        <Part title="Log events">
          <ul>
            {logs.map((log) => (
              <LogRow key={`${log.event.metadata.service_id} ${log.event.metadata.sequence}`} log={log} />
            ))}
          </ul>
        </Part>
      )}
      {span.events.length > 0 && (
        <Part title="Events">
          {span.events.map((event, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: events have no ids, and their order does not change
            <div key={at} className="mb-2">
              <p>
                {event.name} {event.start_nano !== undefined && <span className="text-soft">{durationText(event.start_nano)}</span>}
              </p>
              <Pairs of={Object.entries(event.attributes)} />
            </div>
          ))}
        </Part>
      )}
      {span.links.length > 0 && (
        <Part title="Links">
          {span.links.map((link) => (
            <p key={`${link.trace_id} ${link.span_id}`}>
              <Link to="/traces" search={{ id: link.trace_id, span: link.span_id }} className="font-mono text-accent underline">
                {link.trace_id}
              </Link>
            </p>
          ))}
        </Part>
      )}
      <Part title="Attributes">
        <Pairs of={Object.entries(span.attributes)} />
      </Part>
    </aside>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="mt-3">
    <h3 className="mb-1 font-semibold">{title}</h3>
    {children}
  </section>
)

/** A longer value, such as a stack trace or a statement, takes the whole width, below its name. */
const SHORT_CHARS_MAX = 60

const Pairs = ({ of }: { of: readonly (readonly [string, string])[] }) => (
  <dl className="grid grid-cols-[minmax(6rem,40%)_1fr] gap-x-2">
    {of.map(([name, value]) => {
      const isLong = value.length > SHORT_CHARS_MAX || value.includes('\n')
      return (
        <div key={name} className={isLong ? 'col-span-2' : 'contents'}>
          <dt className="wrap-anywhere text-soft">{name}</dt>
          <dd className={`wrap-anywhere min-w-0 whitespace-pre-wrap font-mono ${isLong ? 'pb-1 pl-3' : ''}`}>{value}</dd>
        </div>
      )
    })}
  </dl>
)

/** One log event with its time in the trace. */
export const LogRow = ({ log: { start_nano, event } }: { log: TraceLog }) => (
  <li className="flex gap-2 py-0.5 text-xs">
    <span className="shrink-0 text-soft tabular-nums">{durationText(start_nano)}</span>
    <span className={`min-w-0 break-words font-mono ${event['@status'] === 'error' ? 'text-error' : ''}`}>
      {event.message_kvs.message ?? event['@raw'] ?? ''}
    </span>
  </li>
)
