import type { Source } from '@dendro/api'
import { Link, useSearch } from '@tanstack/react-router'
import { dottedName, useDatasetsById } from '../../../parts/datasets/datasets.ts'
import { Confirm } from '../../../parts/records/confirm.tsx'
import { Row } from '../../../parts/records/records.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { Button, buttonClass } from '../../../ui/button.tsx'
import { TransferList } from '../transfer-list.tsx'
import { originKinds, originText } from './origin-text.ts'
import { SourceEditor } from './source-editor.tsx'
import { SourcePosition } from './source-position.tsx'
import { SOURCES, useSources } from './sources.ts'

/** From where events are fetched and how far, or the editor of one source. */
export function Sources() {
  const { edit } = useSearch({ from: '/inside/data' })
  return edit === undefined ? <SourceList /> : <SourceEditor key={edit} id={edit === 'new' ? undefined : edit} />
}

const SourceList = () => (
  <TransferList
    title="Sources"
    about="A source fetches events from files, topics of Kafka or objects in a bucket, each of them once. While events cannot be stored it waits, and goes on where it was."
    of={useSources()}
    page="sources"
    needs="sources_write"
    action="New source"
    empty={{
      title: 'No sources yet',
      about:
        'Events arrive when programs send them. With a source the service fetches them instead: log files with their rotation, a topic of Kafka, or the objects that another service writes to a bucket.',
    }}
    columns={['Name', 'Origin', 'Dataset', 'Position']}
  >
    {(source) => <SourceRow key={source.id} source={source} />}
  </TransferList>
)

function SourceRow({ source }: { source: Source }) {
  const client = useClient()
  const { id, name, description, origin, log_id, paused, state } = source
  const { nameOf } = useDatasetsById([log_id])
  const params = { sourceId: id }
  const toggle = useSave(() => (paused ? client.sources.resume({ params }) : client.sources.pause({ params })), { stale: [SOURCES] })
  const remove = useSave(() => client.sources.remove({ params }), { stale: [SOURCES] })
  return (
    <Row
      cells={[
        <>
          <span className="font-medium">{name}</span>
          {description && <span className="block text-soft text-xs">{description}</span>}
        </>,
        <>
          <span className="block">{originKinds[origin.kind]}</span>
          <span className="wrap-anywhere block text-soft text-xs">{originText(origin)}</span>
        </>,
        <Link key="dataset" to="/data" search={{ id: log_id }} className="text-accent hover:underline">
          {nameOf(log_id, dottedName)}
        </Link>,
        <SourcePosition key="position" state={state} nowMs={Date.now()} />,
      ]}
      below={toggle.error && <FailureNote thrown={toggle.error} />}
    >
      <Permitted to="sources_write">
        <Button
          size="small"
          aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
          disabled={toggle.isPending}
          onClick={() => toggle.mutate()}
        >
          {paused ? 'Resume' : 'Pause'}
        </Button>
        <Link to="/data" search={{ sources: true, edit: id }} aria-label={`Edit ${name}`} className={buttonClass({ size: 'small' })}>
          Edit
        </Link>
      </Permitted>
      <Confirm
        size="small"
        action="Delete"
        needs="sources_delete"
        label={`Delete ${name}`}
        message={`Delete the source ${name}? It is forgotten how far it was read; the events that it has stored stay.`}
        onYes={() => remove.mutateAsync()}
      />
    </Row>
  )
}
