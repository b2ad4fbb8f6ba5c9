import type { Dataset, LedgerCounts } from '@dendro/api'
import { flowOf } from '@dendro/api/dataset-flow'
import { Link } from '@tanstack/react-router'
import { Check, TriangleAlert } from 'lucide-react'
import { useMemo } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartBand, ChartData } from '../../parts/chart/data.ts'
import { ago, bytes, count, share } from '../../parts/chart/numbers.ts'
import { DatasetOffers } from '../../parts/records/content-packs.tsx'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useCallerNames } from '../../parts/shell/callers.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { expectedEvery } from './expected.ts'
import { hoursOf, lastRejectedOf, sendersOf, useLedger } from './ledger.ts'
import { LineTimes } from './line-times.tsx'
import { Readers } from './readers.tsx'
import { reasonText } from './rejection-reasons.ts'

type Ledger = NonNullable<ReturnType<typeof useLedger>['data']>

/** Shows arrivals, ingestion results, senders, and the monitors and dashboards of a dataset. */
export function Overview({ dataset }: { dataset: Dataset }) {
  const ledger = useLedger(dataset.id)
  return (
    <>
      <Panel title="Events of the last 7 days, by hour of arrival">
        <Loaded of={ledger}>
          {(data) =>
            Number(data.totals.received) === 0 ? (
              <NoArrivals dataset={dataset} />
            ) : (
              <>
                <Arrivals ledger={data} />
                <Expected dataset={dataset} ledger={data} />
              </>
            )
          }
        </Loaded>
      </Panel>
      <LineTimes dataset={dataset} onlyOffers />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Panel title="Ingestion results">
          <Loaded of={ledger}>{(data) => <Accounting totals={data.totals} ledger={data} />}</Loaded>
        </Panel>
        <Panel title="Senders">
          <Loaded of={ledger}>{(data) => <Senders ledger={data} />}</Loaded>
        </Panel>
      </div>
      <Readers id={dataset.id} />
      <DatasetOffers datasetId={dataset.id} />
    </>
  )
}

function NoArrivals({ dataset }: { dataset: Dataset }) {
  const isNew = dataset.metadata.last_heartbeat_at === undefined
  return (
    <p className="px-3 py-10 text-center">
      {isNew ? <strong>Waiting for the first event. </strong> : 'Nothing arrived in the last 7 days. '}
      <Link to="/data" search={{ id: dataset.id, part: 'sending' }} className="text-accent underline">
        How to send events
      </Link>
    </p>
  )
}

function Arrivals({ ledger }: { ledger: Ledger }) {
  const [zone] = useZone()
  const data = useMemo<ChartData>(() => {
    const { times, stepMs, sumsOf } = hoursOf(ledger)
    const all = [
      { name: 'stored', values: sumsOf('stored') },
      { name: 'rejected', values: sumsOf('rejected') },
      { name: 'duplicate', values: sumsOf('duplicate') },
    ]
    return { times, stepMs, series: all.filter(({ name, values }) => name === 'stored' || values.some((value) => value > 0)) }
  }, [ledger])
  const lastMs = data.times.at(-1) ?? 0
  const bands: ChartBand[] = [{ fromMs: lastMs, toMs: lastMs + data.stepMs, kind: 'partial' }]
  return (
    <div className="p-3">
      <Chart label="Events by hour of arrival" data={data} shape="bar" zone={zone} height={180} bands={bands} />
      {!ledger.is_complete && (
        <TruncationNote>
          There are too many senders to list all: the chart and the list are incomplete, the totals are exact.
        </TruncationNote>
      )}
    </div>
  )
}

/** Names how often events have arrived, and leads to a monitor that alerts when they stop. */
function Expected({ dataset, ledger }: { dataset: Dataset; ledger: Ledger }) {
  const every = useMemo(() => expectedEvery(hoursOf(ledger).sumsOf('stored')), [ledger])
  const lastMs = dataset.metadata.last_heartbeat_at
  if (every === undefined || dataset.is_system_generated) return null
  const isSilent = flowOf(lastMs, Date.now()) !== 'receiving'
  const silent = `${dataset.collection} / ${dataset.dataset}`
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 pb-3">
      <span className={isSilent ? 'text-warn' : 'text-soft'}>
        Expected every {every.replace(/^1 /, '')}
        {isSilent && lastMs !== undefined && `; the last event arrived ${ago(lastMs, Date.now())}`}.
      </span>
      <Permitted to="monitors_write">
        <Link
          to="/monitors"
          search={{ edit: 'new', d: [dataset.id], r: `Last ${every}`, silent }}
          className={buttonClass({ size: 'small' })}
        >
          Alert when silent
        </Link>
      </Permitted>
    </p>
  )
}

function Accounting({ totals, ledger }: { totals: LedgerCounts; ledger: Ledger }) {
  const received = Number(totals.received)
  const lines: readonly (readonly [string, number, string])[] = [
    ['Received', received, `${bytes(Number(totals.wire_bytes))} on the wire`],
    ['Stored', Number(totals.stored), `${bytes(Number(totals.raw_bytes))} of lines`],
    ['Duplicates', Number(totals.duplicate), 'sent again after they were stored'],
    ['Rejected', Number(totals.rejected), Number(totals.rejected) > 0 ? share(Number(totals.rejected), received) : ''],
    ['Truncated', Number(totals.truncated), 'stored up to the maximum length'],
    ['Late', Number(totals.late), 'stored, but more than an hour old on arrival'],
    ['Missing', Number(totals.missing), 'stored, but not found by a recount'],
  ]
  const last = lastRejectedOf(ledger.entries)
  return (
    <div className="flex flex-col gap-3 p-3">
      <dl className="grid grid-cols-[auto_auto_1fr] gap-x-4 gap-y-1">
        {lines
          .filter(([name, value]) => value > 0 || name === 'Received' || name === 'Stored' || name === 'Rejected')
          .map(([name, value, note]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className={`text-right tabular-nums ${value > 0 && (name === 'Rejected' || name === 'Missing') ? 'text-error' : ''}`}>
                {count(value)}
              </dd>
              <dd className="text-soft text-xs leading-5">{note}</dd>
            </div>
          ))}
      </dl>
      <p>
        {totals.balances ? (
          <>
            <span aria-hidden className="text-accent">
              <Icon of={Check} size="small" className="inline" />
            </span>{' '}
            Every received event is accounted for.
          </>
        ) : (
          <span className="text-warn">
            <Icon of={TriangleAlert} size="small" className="inline" /> The totals do not match: some requests are still in progress or were
            lost.
          </span>
        )}
      </p>
      {last && (
        <section aria-label="Rejected">
          <h3 className="mb-1 font-medium">Reasons</h3>
          <ul className="flex flex-col gap-1">
            {Object.entries(totals.reasons).map(([reason, events]) => (
              <li key={reason}>
                <span className="tabular-nums">{count(events)}</span> · {reasonText(reason)}{' '}
                <code className="text-soft text-xs">{reason}</code>
              </li>
            ))}
          </ul>
          <LastRejected entry={last} />
        </section>
      )}
    </div>
  )
}

function LastRejected({ entry }: { entry: Ledger['entries'][number] }) {
  const [zone] = useZone()
  const callerOf = useCallerNames(entry.identity ? [entry.identity.id] : [])
  const { day, clock } = clockOf(entry.start_time, zone)
  return (
    <p className="mt-2 text-soft text-xs">
      Last rejections: {count(entry.rejected)} in the hour from {day} {clock.slice(0, 5)} {zone === 'utc' ? 'UTC' : ''}, over{' '}
      {entry.protocol}
      {entry.identity && ` by ${callerOf(entry.identity.id)}`}: {Object.keys(entry.reasons).map(reasonText).join('; ')}. Rejected events are
      not stored; the response to the sender has the reason.
    </p>
  )
}

function Senders({ ledger }: { ledger: Ledger }) {
  const senders = sendersOf(ledger.entries)
  const callerOf = useCallerNames(senders.flatMap(({ identity }) => identity ?? []))
  return (
    <Rows
      label="Senders"
      columns={['Sender', 'Protocol', 'Received', 'Rejected']}
      empty="No senders in the last 7 days. The tab “Sending” shows how to send."
    >
      {senders.map(({ key, identity, protocol, received, rejected }) => (
        <Row
          key={key}
          cells={[
            identity === undefined ? 'found by a recount' : callerOf(identity),
            protocol,
            <span key="received" className="tabular-nums">
              {count(received)}
            </span>,
            <span key="rejected" className={`tabular-nums ${rejected > 0 ? 'text-error' : ''}`}>
              {count(rejected)}
            </span>,
          ]}
        />
      ))}
    </Rows>
  )
}
