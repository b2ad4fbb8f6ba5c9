import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { DatasetPicker } from '../../../parts/datasets/dataset-picker.tsx'
import { DatasetSelector } from '../../../parts/query/dataset-selector.tsx'
import { useKnownFields } from '../../../parts/query/fields.ts'
import { EVERYTHING } from '../../../parts/query/metric-queries.ts'
import { QueryField } from '../../../parts/query/query-input.tsx'
import { readWhere } from '../../../parts/query/query-readers.ts'
import { EditorPage } from '../../../parts/records/editor-page.tsx'
import { FieldErrorsOf } from '../../../parts/records/form.tsx'
import { MissingRecord } from '../../../parts/records/records.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { Panel } from '../../../parts/shell/page.tsx'
import { Button } from '../../../ui/button.tsx'
import { NameFields } from '../name-fields.tsx'
import { ActionFields } from './action-fields.tsx'
import { bodyOf, draftFrom, draftOf, missingIn, newDraft, type RuleDraft } from './rule-draft.ts'
import { RulePreview } from './rule-preview.tsx'
import { INGEST_RULES, useIngestRules } from './rules.ts'

const LATELY = { words: 'Last 1 day' }

const BackToRules = () => (
  <Link to="/data" search={{ rules: true }}>
    All rules
  </Link>
)

/** Edits a rule beside its effect on recent events; a new one begins with the draft of the address. */
export function RuleEditor({ id, given }: { id: string | undefined; given: Readonly<Record<string, unknown>> | undefined }) {
  const rules = useIngestRules()
  if (id === undefined) return <RuleForm first={given ? draftFrom(given) : newDraft} />
  const rule = rules.data?.ingest_rules.find((one) => one.id === id)
  if (rule) return <RuleForm first={draftOf(rule)} edited={{ id, name: rule.name, version: rule.version }} />
  return <MissingRecord title="Edit rule" noun="rule" of={rules} back={<BackToRules />} />
}

type RuleFormProps = { first: RuleDraft; edited?: { id: string; name: string; version: number } }

function RuleForm({ first, edited }: RuleFormProps) {
  const [draft, setDraft] = useState(first)
  const client = useClient()
  const navigate = useNavigate()
  const set = (change: Partial<RuleDraft>) => setDraft((now) => ({ ...now, ...change }))
  const save = useSave(
    () => {
      const body = bodyOf(draft)
      return edited
        ? client.ingestRules.update({ params: { ruleId: edited.id }, body: { ...body, version: edited.version } })
        : client.ingestRules.create({ body })
    },
    { stale: [INGEST_RULES], onSaved: () => navigate({ to: '/data', search: { rules: true }, replace: true }) },
  )
  return (
    <EditorPage
      title={edited ? `Edit ${edited.name}` : 'New rule'}
      action={edited ? 'Save' : 'Create rule'}
      needs="ingest_rules_write"
      missing={missingIn(draft)}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToRules />}
      cancel={
        <Link to="/data" search={{ rules: true }}>
          Cancel
        </Link>
      }
      onSend={() => save.mutate()}
      preview={<RulePreview draft={draft} />}
    >
      <FieldErrorsOf thrown={save.error}>
        <Panel title="Events">
          <EventFields draft={draft} onChange={set} />
        </Panel>
        <Panel title="Action">
          <div className="p-3">
            <ActionFields action={draft.action} onChange={(action) => set({ action })} />
          </div>
        </Panel>
        <Panel title="Name">
          <div className="flex flex-col gap-3 p-3">
            <NameFields draft={draft} nameMax={100} onChange={set} />
          </div>
        </Panel>
      </FieldErrorsOf>
    </EditorPage>
  )
}

type EventFieldsProps = {
  draft: RuleDraft
  onChange(change: Partial<RuleDraft>): void
}

/** The datasets and the filter of a rule. */
function EventFields({ draft, onChange }: EventFieldsProps) {
  const { from, selector, where } = draft
  const [wantsSelector, setWantsSelector] = useState(false)
  const known = useKnownFields({ datasets: from && [...from], range: LATELY, refreshCount: 0 }, true).data?.fields ?? []
  const isSelected = from === undefined && (wantsSelector || selector !== EVERYTHING)
  const pick = (ids: string[] | undefined) => {
    setWantsSelector(false)
    onChange({ from: ids, selector: EVERYTHING })
  }
  return (
    <div className="flex flex-col gap-3 p-3">
      <div>
        {isSelected ? (
          <Button title="Select datasets by name" onClick={() => pick(undefined)}>
            Select by name
          </Button>
        ) : (
          <DatasetPicker picked={from} onPick={pick} onSelector={() => setWantsSelector(true)} />
        )}
      </div>
      {isSelected && (
        <DatasetSelector
          selector={selector}
          isBegun={wantsSelector}
          onSelector={(text) => onChange({ from: undefined, selector: text.trim() === '' ? EVERYTHING : text })}
        />
      )}
      <QueryField
        label="Filter"
        placeholder="all events, or field = value AND …"
        text={where}
        known={{ read: readWhere, fields: known }}
        onText={(text) => onChange({ where: text })}
      />
    </div>
  )
}
