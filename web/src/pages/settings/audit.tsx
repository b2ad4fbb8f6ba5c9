import { useInfiniteQuery } from '@tanstack/react-query'
import { Ban } from 'lucide-react'
import { useState } from 'react'
import { Row, Rows } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../parts/shell/page.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'

const PAGE = 100

/** Audit lists the audit records: changes and refused requests. */
export function Audit() {
  const client = useClient()
  const [filter, setFilter] = useState({ action: '', entity_id: '' })
  const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
  const read = useInfiniteQuery({
    queryKey: ['audit', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      client.audit.list({ query: { ...query, limit: PAGE, ...(pageParam === undefined ? {} : { before_id: pageParam }) }, signal }),
    getNextPageParam: ({ audit }) => (audit.length === PAGE ? audit.at(-1)?.id : undefined),
  })
  const records = read.data?.pages.flatMap(({ audit }) => audit)
  return (
    <Panel title="Audit records, newest first">
      <form
        aria-label="Find records"
        className="flex flex-wrap items-end gap-2 p-3 max-sm:*:[label]:w-full"
        onSubmit={(event) => {
          event.preventDefault()
          const data = new FormData(event.currentTarget)
          setFilter({ action: String(data.get('action')).trim(), entity_id: String(data.get('entity_id')).trim() })
        }}
      >
        <Field name="Action">
          <Input name="action" placeholder="datasets.create" autoComplete="off" className="font-mono" />
        </Field>
        <Field name="Entity id" className="min-w-72">
          <Input name="entity_id" autoComplete="off" className="font-mono" />
        </Field>
        <Button type="submit">Find</Button>
      </form>
      {read.error && <FailureNote thrown={read.error} again={() => read.refetch()} />}
      {!records && !read.error && <Loading />}
      {records && (
        <Rows
          label="Audit"
          columns={['Time', 'User', 'Action', 'Entity', 'Address']}
          empty={
            Object.keys(query).length > 0
              ? 'No audit records match. Clear the filter to see all.'
              : 'No audit records yet: every change and every refused request will be listed here.'
          }
        >
          {records.map((record) => (
            <AuditRow key={record.id} record={record} />
          ))}
        </Rows>
      )}
      {read.hasNextPage && (
        <div className="p-3 text-center">
          <Button disabled={read.isFetchingNextPage} onClick={() => read.fetchNextPage()}>
            {read.isFetchingNextPage ? 'Loading…' : 'Load older'}
          </Button>
        </div>
      )}
    </Panel>
  )
}

type AuditReply = Awaited<ReturnType<ReturnType<typeof useClient>['audit']['list']>>

function AuditRow({ record }: { record: AuditReply['audit'][number] }) {
  const [zone] = useZone()
  const [isOpen, setOpen] = useState(false)
  const { day, clock } = clockOf(record.time, zone)
  const { before, after } = record
  return (
    <Row
      cells={[
        <span key="when" className="whitespace-nowrap tabular-nums">
          {day} {clock.slice(0, 8)}
        </span>,
        record.actor_name || <span key="who">unknown</span>,
        <span key="did">
          <code className="font-mono text-xs">{record.action}</code>
          {record.outcome === 'refused' && (
            <span className="text-error">
              {' '}
              <Icon of={Ban} size="small" className="inline" /> refused
            </span>
          )}
        </span>,
        <span key="to" className="text-soft" title={record.entity_id}>
          {record.entity_type} {record.entity_id.slice(0, 8)}
        </span>,
        <span key="from" className="whitespace-nowrap text-soft text-xs">
          {record.address}
        </span>,
      ]}
      below={
        isOpen && (
          <div className="flex flex-col gap-2 p-3 text-xs">
            <div className="grid gap-2 lg:grid-cols-2">
              {before && <Snapshot name="Before" record={before} />}
              {after && <Snapshot name="After" record={after} />}
            </div>
            <p className="break-all text-soft">
              {record.entity_type} {record.entity_id} · request {record.correlation_id} · {record.user_agent || 'no user agent'}
            </p>
          </div>
        )
      }
    >
      <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Details
      </Button>
    </Row>
  )
}

function Snapshot({ name, record }: { name: string; record: object }) {
  return (
    <section aria-label={name} className="min-w-0">
      <h3 className="font-medium">{name}</h3>
      <pre className="max-h-72 overflow-auto whitespace-pre-wrap break-all rounded bg-panel p-2 font-mono">
        {JSON.stringify(record, undefined, 2)}
      </pre>
    </section>
  )
}
