import type { Source } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { EditorPage } from '../../../parts/records/editor-page.tsx'
import { FieldErrorsOf } from '../../../parts/records/form.tsx'
import { MissingRecord } from '../../../parts/records/records.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { Panel } from '../../../parts/shell/page.tsx'
import { ConnectionTest } from '../connection-test.tsx'
import { DatasetField } from '../dataset-field.tsx'
import { NameFields } from '../name-fields.tsx'
import { OriginFields } from './origin-fields.tsx'
import { missingInOrigin, missingInSource, newSource, originBody, type SourceDraft, sourceBody, sourceDraftOf } from './source-draft.ts'
import { SOURCES, useSources } from './sources.ts'

const BackToSources = () => (
  <Link to="/data" search={{ sources: true }}>
    All sources
  </Link>
)

/** Edits a source, or a new one. */
export function SourceEditor({ id }: { id: string | undefined }) {
  const sources = useSources()
  if (id === undefined) return <SourceForm first={newSource} />
  const source = sources.data?.find((one) => one.id === id)
  if (source) return <SourceForm first={sourceDraftOf(source)} edited={source} />
  return <MissingRecord title="Edit source" noun="source" of={sources} back={<BackToSources />} />
}

type SourceFormProps = { first: SourceDraft; edited?: Pick<Source, 'id' | 'name'> }

function SourceForm({ first, edited }: SourceFormProps) {
  const [draft, setDraft] = useState(first)
  const client = useClient()
  const navigate = useNavigate()
  const set = (change: Partial<SourceDraft>) => setDraft((now) => ({ ...now, ...change }))
  const save = useSave(
    () => {
      const body = sourceBody(draft)
      return edited ? client.sources.update({ params: { sourceId: edited.id }, body }) : client.sources.create({ body })
    },
    { stale: [SOURCES], onSaved: () => navigate({ to: '/data', search: { sources: true }, replace: true }) },
  )
  return (
    <EditorPage
      title={edited ? `Edit ${edited.name}` : 'New source'}
      action={edited ? 'Save' : 'Create source'}
      needs="sources_write"
      missing={missingInSource(draft)}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToSources />}
      cancel={
        <Link to="/data" search={{ sources: true }}>
          Cancel
        </Link>
      }
      onSend={() => save.mutate()}
    >
      <FieldErrorsOf thrown={save.error}>
        <Panel title="Origin">
          <div className="flex flex-col gap-3 p-3">
            <OriginFields draft={draft.origin} onChange={(origin) => set({ origin })} />
            <ConnectionTest
              action="Test origin"
              success="It can be read."
              body={originBody(draft.origin)}
              isReady={missingInOrigin(draft.origin) === undefined}
              send={(origin) => client.sources.test({ body: { origin } })}
            />
          </div>
        </Panel>
        <Panel title="Events">
          <div className="flex flex-col gap-3 p-3">
            <DatasetField
              value={draft.dataset}
              help="All events go to this dataset; an ingest rule can move some of them to others."
              onPick={(dataset) => set({ dataset })}
            />
          </div>
        </Panel>
        <Panel title="Name">
          <div className="flex flex-col gap-3 p-3">
            <NameFields draft={draft} onChange={set} />
            <label className="flex items-center gap-2">
              <input type="checkbox" checked={draft.paused} onChange={({ target }) => set({ paused: target.checked })} />
              Paused: reads nothing, and keeps its position
            </label>
          </div>
        </Panel>
      </FieldErrorsOf>
    </EditorPage>
  )
}
