import type { Session } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { ago } from '../../parts/chart/numbers.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { programOf } from './program.ts'

const SESSIONS = ['sessions']
const columns = ['Program', 'Began', 'Last used', 'Signed in by']

/** Sessions are where the user is signed in. */
export function Sessions() {
  const client = useClient()
  const list = useQuery({ queryKey: SESSIONS, queryFn: ({ signal }) => client.sessions.list({ signal }) })
  const endOthers = useSave(() => client.sessions.endOthers({}), { stale: [SESSIONS] })
  const others = (list.data?.sessions ?? []).filter(({ is_current }) => !is_current)
  const action = others.length > 0 && (
    <Confirm
      action="End all others"
      message="End all your sessions but this one? Other browsers and command lines have to sign in again."
      onYes={() => endOthers.mutateAsync()}
    />
  )
  return (
    <Panel title="Your sessions" actions={action}>
      <Loaded of={list}>
        {({ sessions }) => (
          <Rows label="Your sessions" columns={columns} empty="You have no sessions.">
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </Rows>
        )}
      </Loaded>
    </Panel>
  )
}

function SessionRow({ session }: { session: Session }) {
  const client = useClient()
  const { id, is_current, created_at, address, user_agent, method, last_used_at, last_used_address } = session
  const end = useSave(() => client.sessions.remove({ params: { sessionId: id } }), { stale: [SESSIONS] })
  const program = user_agent === undefined ? 'unknown' : programOf(user_agent)
  const cells = [
    <span key="program" className="wrap-anywhere" title={user_agent}>
      {program} {is_current && <b className="whitespace-nowrap">this session</b>}
    </span>,
    <Moment key="began" atMs={created_at} address={address} />,
    last_used_at === undefined ? '' : <Moment key="used" atMs={last_used_at} address={last_used_address} />,
    method ?? '',
  ]
  return (
    <Row cells={cells}>
      {!is_current && (
        <Confirm
          size="small"
          action="End"
          label={`End the session of ${program}, begun ${ago(created_at, Date.now())}`}
          message="End this session? Its program has to sign in again."
          onYes={() => end.mutateAsync()}
        />
      )}
    </Row>
  )
}

const Moment = ({ atMs, address }: { atMs: number; address: string | undefined }) => (
  <>
    {ago(atMs, Date.now())}
    {address && <span className="wrap-anywhere text-soft"> from {address}</span>}
  </>
)
