import { ApiFailure, NoResponse } from '@dendro/api/client'
import { TruncationNote, useShown } from '../../parts/records/long-list.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { StatusMark, Step, statuses, WaitingMark } from '../../parts/records/status.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Panel } from '../../parts/shell/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Group, State } from './kit-state.tsx'

const failures = [
  { name: 'no response', thrown: new NoResponse('/search', new Error('the connection was refused')) },
  { name: 'failed', thrown: failureOf(503, 'The event store did not answer within 10 s.') },
  { name: 'rejected', thrown: failureOf(400, 'threshold must be a number.') },
  { name: 'not permitted', thrown: failureOf(403, 'You need monitors_write.') },
  { name: 'not found', thrown: failureOf(404, 'There is no such monitor.') },
  { name: 'signed out', thrown: failureOf(401, 'The session has ended.') },
] as const

function failureOf(status: number, details: string): ApiFailure {
  return new ApiFailure(status, { type: 'kit', details, correlation_id: '7d0c1b1e-0000-4000-8000-000000000001' })
}

const again = () => undefined
const people = ['ada', 'grace', 'katherine'] as const

/** The marks, tables and notes that pages are made of. */
export function PageStates() {
  return (
    <>
      <Group title="Statuses">
        {statuses.map((status) => (
          <State key={status} name={`status ${status}`} caption={status}>
            <span className="flex gap-3">
              <StatusMark status={status} />
              <StatusMark status={status} isNamed />
            </span>
          </State>
        ))}
        <State name="status waiting">
          <WaitingMark isNamed />
        </State>
        <State name="status change">
          <Step before="OK" after="ALERT" />
        </State>
      </Group>
      <Group title="Pages">
        <State name="panel" isWide>
          <Panel title="Panel" actions={<Button size="small">Edit</Button>}>
            <p className="p-3">Its content.</p>
          </Panel>
        </State>
        <State name="panel that has failed" isWide>
          <Panel title="Panel that has failed">
            <FailureNote thrown={failures[1].thrown} again={again} />
          </Panel>
        </State>
        <State name="loading" isWide>
          <Loading />
        </State>
        <State name="skeleton" isWide>
          <Skeleton />
        </State>
        <State name="empty" isWide>
          <EmptyState title="No monitors yet">
            <p>A monitor notifies when a query crosses a threshold.</p>
          </EmptyState>
        </State>
        {failures.map(({ name, thrown }) => (
          <State key={name} name={`failure ${name}`} isWide>
            <FailureNote thrown={thrown} again={again} />
          </State>
        ))}
        <State name="failure in a part" isWide>
          <FailureNote thrown={failures[1].thrown} again={again} isSmall />
        </State>
      </Group>
      <Group title="Tables">
        <State name="table" isWide>
          <Panel title="Users">
            <Rows label="Users" columns={['Name', 'Role']} empty="No users.">
              {people.map((name) => (
                <Row key={name} cells={[name, 'Standard']}>
                  <Button size="small">Edit</Button>
                </Row>
              ))}
            </Rows>
            <LongList />
          </Panel>
        </State>
        <State name="table without rows" isWide>
          <Panel title="Keys">
            <Rows label="Keys" columns={['Name']} empty="No keys yet." howTo="Create one above.">
              {[]}
            </Rows>
          </Panel>
        </State>
        <State name="table that loads" isWide>
          <Panel title="Groups">
            <Loaded of={{ data: undefined, error: undefined, refetch: again }}>{() => null}</Loaded>
          </Panel>
        </State>
      </Group>
    </>
  )
}

function LongList() {
  const { shown, more } = useShown(people, 1)
  return (
    <>
      <p className="px-3 pt-2">{shown.join(', ')}</p>
      {more}
      <TruncationNote>Only the first 3 of 12 users.</TruncationNote>
    </>
  )
}
