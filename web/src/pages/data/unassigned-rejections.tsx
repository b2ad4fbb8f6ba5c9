import type { LedgerEntry } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { count } from '../../parts/chart/numbers.ts'
import { useCallerNames } from '../../parts/shell/callers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Icon } from '../../ui/icon.tsx'
import { reasonText } from './rejection-reasons.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Reports events of the last day that were rejected before their dataset was known; no other page shows them. */
export function UnassignedRejections() {
  const client = useClient()
  const toMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
  const read = useQuery({
    queryKey: ['refused'],
    queryFn: ({ signal }) => client.ledger.get({ query: { from_ts: toMs - DAY_MS, to_ts: toMs, unassigned: true }, signal }),
    refetchInterval: MINUTE_MS,
  })
  const lost = (read.data?.entries ?? []).filter(({ rejected }) => Number(rejected) > 0)
  if (lost.length === 0) return null
  const total = lost.reduce((sum, { rejected }) => sum + Number(rejected), 0)
  return (
    <details className="rounded-md border border-warn bg-panel px-3 py-2">
      <summary className="cursor-pointer">
        <span aria-hidden className="text-warn">
          <Icon of={TriangleAlert} size="small" />
        </span>{' '}
        {read.data?.is_complete === false && 'At least '}
        {total === 1 ? '1 event was' : `${count(total)} events were`} rejected in the last day before their dataset was known
      </summary>
      <Senders lost={lost} />
    </details>
  )
}

/** Names the senders. */
function Senders({ lost }: { lost: readonly LedgerEntry[] }) {
  const callerOf = useCallerNames(lost.flatMap(({ identity }) => identity?.id ?? []))
  return (
    <ul className="mt-2 flex flex-col gap-1">
      {lost.map(({ identity, protocol, reasons, rejected }) => (
        <li key={`${identity?.id}/${protocol}`}>
          {count(rejected)} by {identity ? callerOf(identity.id) : 'an unknown sender'} over {protocol}:{' '}
          {Object.entries(reasons)
            .map(([reason, events]) => `${reasonText(reason)} (${count(events)})`)
            .join('; ')}
        </li>
      ))}
    </ul>
  )
}
