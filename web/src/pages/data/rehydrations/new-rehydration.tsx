import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useKnownFields } from '../../../parts/query/fields.ts'
import { QueryField } from '../../../parts/query/query-input.tsx'
import { readWhere } from '../../../parts/query/query-readers.ts'
import { EditorPage } from '../../../parts/records/editor-page.tsx'
import { FieldErrorsOf } from '../../../parts/records/form.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { Panel } from '../../../parts/shell/page.tsx'
import { TimePicker } from '../../../parts/time/time-picker.tsx'
import { boundsOf, type Range } from '../../../parts/time/time-range.ts'
import { useZone } from '../../../parts/time/zone.ts'
import { DatasetField } from '../dataset-field.tsx'
import { filled } from '../filled.ts'
import { OriginFields } from '../sources/origin-fields.tsx'
import { filesBody, missingInOrigin, newOrigin, type OriginDraft } from '../sources/source-draft.ts'
import { REHYDRATIONS } from './rehydrations.ts'

const LATELY = { words: 'Last 7 days' }

type RehydrationDraft = {
  readonly dataset: string
  readonly origin: OriginDraft
  /** Undefined reads events of all times. */
  readonly range: Range | undefined
  readonly filter: string
}

const first: RehydrationDraft = { dataset: '', origin: newOrigin, range: undefined, filter: '' }

const bodyOf = ({ dataset, origin, range, filter }: RehydrationDraft) => {
  const bounds = range && boundsOf(range, Date.now())
  return {
    log_id: dataset,
    origin: filesBody({ ...origin, kind: origin.kind === 'S3' ? 'S3' : 'DIRECTORY' }),
    ...(bounds ? { from_ts: bounds.fromMs, to_ts: bounds.toMs } : {}),
    ...filled({ filter }),
  }
}

const missingIn = ({ dataset, origin }: RehydrationDraft): string | undefined =>
  missingInOrigin(origin) ?? (dataset === '' ? 'a dataset' : undefined)

const BackToRehydrations = () => (
  <Link to="/data" search={{ rehydrations: true }}>
    All rehydrations
  </Link>
)

/** Begins a rehydration. */
export function NewRehydration() {
  const [draft, setDraft] = useState(first)
  const [zone, setZone] = useZone()
  const client = useClient()
  const navigate = useNavigate()
  const set = (change: Partial<RehydrationDraft>) => setDraft((now) => ({ ...now, ...change }))
  const datasets = draft.dataset === '' ? undefined : [draft.dataset]
  const known = useKnownFields({ datasets, range: LATELY, refreshCount: 0 }, true).data?.fields ?? []
  const save = useSave(() => client.rehydrations.create({ body: bodyOf(draft) }), {
    stale: [REHYDRATIONS],
    onSaved: () => navigate({ to: '/data', search: { rehydrations: true }, replace: true }),
  })
  return (
    <EditorPage
      title="Rehydrate events"
      action="Start"
      needs="sources_write"
      missing={missingIn(draft)}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToRehydrations />}
      cancel={
        <Link to="/data" search={{ rehydrations: true }}>
          Cancel
        </Link>
      }
      onSend={() => save.mutate()}
    >
      <FieldErrorsOf thrown={save.error}>
        <Panel title="Files">
          <div className="flex flex-col gap-3 p-3">
            <OriginFields draft={draft.origin} isOnce onChange={(origin) => set({ origin })} />
          </div>
        </Panel>
        <Panel title="Events">
          <div className="flex flex-col gap-3 p-3">
            <DatasetField
              value={draft.dataset}
              help="What an earlier rehydration has stored here from the same file is not stored again."
              onPick={(dataset) => set({ dataset })}
            />
            <div className="flex flex-wrap items-center gap-3">
              <label className="flex items-center gap-2">
                <input
                  type="checkbox"
                  checked={draft.range !== undefined}
                  onChange={({ target }) => set({ range: target.checked ? LATELY : undefined })}
                />
                Only a time range
              </label>
              {draft.range && <TimePicker range={draft.range} zone={zone} onPick={(range) => set({ range })} onZone={setZone} />}
            </div>
            <QueryField
              label="Filter"
              placeholder="all events, or field = value AND …"
              text={draft.filter}
              known={{ read: readWhere, fields: known }}
              onText={(filter) => set({ filter })}
            />
          </div>
        </Panel>
      </FieldErrorsOf>
    </EditorPage>
  )
}
