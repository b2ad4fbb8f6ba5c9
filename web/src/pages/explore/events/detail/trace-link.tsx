import type { Event } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../../../ui/button.tsx'

const TRACE_ID = /^\$?(?:span\.)?trace[._]?id$/i
const SPAN_ID = /^\$?(?:span\.)?span[._]?id$/i

/** Leads from an event to its span in its trace. */
export function TraceLink({ event: { message_kvs, attributes, metadata } }: { event: Event }) {
  const fields = [...Object.entries(message_kvs), ...Object.entries(attributes)]
  const fieldLike = (pattern: RegExp) => fields.find(([name, value]) => pattern.test(name) && value !== '')?.[1]
  const id = fieldLike(TRACE_ID)
  if (id === undefined) return null
  const span = fieldLike(SPAN_ID)?.toLowerCase()
  return (
    <Link to="/traces" search={{ id, at: metadata.timestamp, ...(span ? { span } : {}) }} className={buttonClass({ size: 'small' })}>
      Trace
    </Link>
  )
}
