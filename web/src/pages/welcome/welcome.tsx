import { shopLines } from '@dendro/api/demo'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { ago, quantity } from '../../parts/chart/numbers.ts'
import { Shippers, useShipperKey } from '../../parts/datasets/shippers.tsx'
import { hasReceivedEvents } from '../../parts/datasets/system-datasets.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Administrator } from './administrator.tsx'

/** How many users are named who can sign in. */
const PEOPLE_SHOWN = 10

/** Leads from the first key to the first event. */
export function WelcomePage() {
  const client = useClient()
  const users = useQuery({
    queryKey: ['users', 'active'],
    queryFn: ({ signal }) => client.users.list({ query: { status: 'ACTIVE', limit: PEOPLE_SHOWN }, signal }),
  })
  const people = users.data?.users ?? []
  return (
    <div className="h-full overflow-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-6 p-4 [&_[role=alert]]:m-0">
        <h1 className="font-semibold text-xl">Welcome to Dendro</h1>
        <Step number={1} title="Create an administrator" isDone={people.length > 0}>
          {users.error && <FailureNote thrown={users.error} again={() => users.refetch()} />}
          {users.isPending && <Loading height="15.5rem" />}
          {people.length > 0 ? (
            <p className="text-soft">
              {[...people.map(({ email }) => email), ...(users.data?.next_cursor ? ['others'] : [])].join(', ')} can sign in with e-mail and
              password.
            </p>
          ) : (
            users.data && <Administrator />
          )}
        </Step>
        <Received />
      </div>
    </div>
  )
}

function Step({ number, title, isDone, children }: { number: number; title: string; isDone: boolean; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-3">
      <h2 className="flex items-center gap-2 font-medium">
        <span
          aria-hidden
          className={`grid size-6 place-items-center rounded-full text-xs ${isDone ? 'bg-accent text-accent-ink' : 'border border-line'}`}
        >
          {isDone ? <Icon of={Check} size="small" /> : number}
        </span>
        {title}
        {isDone && <span className="sr-only">(done)</span>}
      </h2>
      {children}
    </section>
  )
}

const REFRESH_MS = 2_000
/** How many datasets are listed, those with the latest events. */
const SHOWN_MAX = 20

/** Waits for the first event and shows what was received. */
function Received() {
  const client = useClient()
  const shipperKey = useShipperKey()
  const { apiKey } = shipperKey
  const [failure, setFailure] = useState<unknown>()
  const received = useQuery({
    queryKey: ['received'],
    refetchInterval: REFRESH_MS,
    queryFn: async ({ signal }) => {
      const { datasets } = await client.datasets.list({ query: { sort: 'last_event', limit: SHOWN_MAX }, signal })
      const body = { from_expr: '*', time_range: 'Last 1 day', select: ['count(*)'], num_of_slices: 1 }
      const seen = datasets.filter(hasReceivedEvents)
      const events = seen.length === 0 ? 0 : Number((await client.search.run({ body, signal, repeatable: true })).totals.count)
      return { seen, events }
    },
  })
  const createKey = () => {
    setFailure(undefined)
    shipperKey.create().catch(setFailure)
  }
  const seen = received.data?.seen ?? []
  const isThere = seen.length > 0
  return (
    <>
      <Step number={2} title="Send events" isDone={isThere}>
        <div className="flex flex-wrap items-center gap-2">
          <DemoData />
          <Permitted to="api_keys_write">
            <Button onClick={createKey} disabled={apiKey !== undefined}>
              {apiKey === undefined ? 'Create a key for shippers' : 'Key created'}
            </Button>
          </Permitted>
        </div>
        {failure !== undefined && <FailureNote thrown={failure} />}
        <details open={!isThere}>
          <summary className="mb-2 cursor-pointer text-soft">Configurations for shippers</summary>
          <Shippers {...shipperKey} />
        </details>
      </Step>
      <Step number={3} title="See the first event" isDone={isThere}>
        <div aria-live="polite" className="flex flex-col gap-2">
          {received.error && !received.data && <FailureNote thrown={received.error} again={() => received.refetch()} />}
          {!isThere && !received.error && <p>Waiting for the first event.</p>}
          {isThere && <p>{quantity(received.data?.events ?? 0, 'event')} received in the last day:</p>}
          <ul className="text-soft">
            {seen.map(({ id, collection, dataset, metadata }) => (
              <li key={id}>
                {collection} / {dataset}, {ago(metadata.last_heartbeat_at ?? 0, Date.now())}
              </li>
            ))}
          </ul>
          {isThere && (
            <p className="text-soft text-xs">
              Dendro also writes datasets of its own, such as <code>.audit-trail</code> with changes and sign-ins. They are not counted
              here.
            </p>
          )}
        </div>
        {isThere && (
          <Link to="/explore" search={{ r: 'Last 1 hour' }} className="self-start rounded bg-accent px-3 py-1.5 text-accent-ink">
            Explore events
          </Link>
        )}
      </Step>
    </>
  )
}

/** Sends one hour of events of a web shop. */
function DemoData() {
  const client = useClient()
  const [state, setState] = useState<'idle' | 'busy' | 'done'>('idle')
  const [failure, setFailure] = useState<unknown>()
  const send = async () => {
    setState('busy')
    setFailure(undefined)
    try {
      for (const { collection, dataset, lines } of shopLines(Date.now())) {
        const headers = { 'x-service-collection': collection, 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
        await client.ingestion.send({ body: lines.join('\n'), headers })
      }
      setState('done')
    } catch (thrown) {
      setFailure(thrown)
      setState('idle')
    }
  }
  return (
    <>
      <Button variant="main" onClick={send} disabled={state !== 'idle'}>
        {state === 'idle' ? 'Send demo data' : state === 'busy' ? 'Sending…' : 'Demo data sent'}
      </Button>
      {failure !== undefined && <FailureNote thrown={failure} />}
    </>
  )
}
