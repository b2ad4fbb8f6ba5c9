import { Field, Input, Select } from '../../ui/field.tsx'
import { type Draft, windows } from './draft.ts'
import { type Kind, kindNames, type Operator, operatorNames } from './words.ts'

type RuleFieldsProps = { draft: Draft; onChange(change: Partial<Draft>): void }

const kinds = Object.entries(kindNames) as [Kind, string][]
const operators = Object.entries(operatorNames) as [Operator, string][]

/** RuleFields say when it alerts: how the value is judged, over which window, and what silence means. */
export function RuleFields({ draft, onChange }: RuleFieldsProps) {
  const { type, operator, threshold, warning, window, noData, retentionHours } = draft
  const offered = windows.includes(window) ? windows : [window, ...windows]
  const hasGroups = draft.queries.some(({ groups }) => (groups ?? []).length > 0)
  return (
    <div className="grid grid-cols-2 gap-2 md:grid-cols-4">
      <Field name="Kind" className="col-span-2">
        <Select value={type} options={kinds} onPick={(next) => onChange({ type: next, ...operatorFor(next, operator) })} />
      </Field>
      <Field name="Over the">
        <Select
          value={window}
          options={offered.map((one) => [one, one.toLowerCase()] as const)}
          onPick={(next) => onChange({ window: next })}
        />
      </Field>
      <Field name="Without events it is">
        <Select
          value={noData}
          options={[
            ['OK', 'OK'],
            ['NO_DATA', 'No data'],
            ['WARN', 'Warning'],
            ['ALERT', 'Alert'],
          ]}
          onPick={(next) => onChange({ noData: next })}
        />
      </Field>
      <Field name="Alert when it is">
        <Select
          value={operator}
          options={operators.filter(([one]) => one !== 'OUTSIDE' || type === 'ANOMALY_DETECTION')}
          onPick={(next) => onChange({ operator: next })}
        />
      </Field>
      <Field name={thresholdName(type, draft.changeType)}>
        <Input inputMode="decimal" value={threshold} required onChange={(event) => onChange({ threshold: event.target.value })} />
      </Field>
      <Field name="Warn at">
        <Input
          inputMode="decimal"
          placeholder="no warning"
          value={warning}
          onChange={(event) => onChange({ warning: event.target.value })}
        />
      </Field>
      {hasGroups && (
        <Field name="Forget silent groups after" help="hours">
          <Input
            inputMode="decimal"
            placeholder="24"
            value={retentionHours}
            onChange={(event) => onChange({ retentionHours: event.target.value })}
          />
        </Field>
      )}
      <KindFields draft={draft} onChange={onChange} />
    </div>
  )
}

/** operatorFor takes an operator that the kind does not know to one that it does. */
const operatorFor = (kind: Kind, operator: Operator): Partial<Draft> => {
  if (kind === 'ANOMALY_DETECTION') return { operator: 'OUTSIDE', threshold: '3', warning: '' }
  return operator === 'OUTSIDE' ? { operator: 'ABOVE' } : {}
}

const thresholdName = (type: Kind, change: Draft['changeType']): string =>
  ({
    PATTERN: 'Threshold',
    USAGE: 'Bytes',
    CHANGE_DETECTION: change === 'PERCENTAGE' ? 'Percent' : 'Difference',
    ANOMALY_DETECTION: 'Deviations',
  })[type]

function KindFields({ draft, onChange }: RuleFieldsProps) {
  if (draft.type === 'CHANGE_DETECTION') {
    return (
      <>
        <Field name="Compared with" help="5 mins ago to 1 month ago">
          <Input value={draft.compareTo} required onChange={(event) => onChange({ compareTo: event.target.value })} />
        </Field>
        <Field name="As a">
          <Select
            value={draft.changeType}
            options={[
              ['DIFFERENCE', 'difference'],
              ['PERCENTAGE', 'percentage'],
            ]}
            onPick={(next) => onChange({ changeType: next })}
          />
        </Field>
      </>
    )
  }
  if (draft.type === 'ANOMALY_DETECTION') {
    return (
      <Field name="Usual is what was in the last" help="10 to 1000 windows, at most 30 days">
        <Input value={draft.evaluationWindow} required onChange={(event) => onChange({ evaluationWindow: event.target.value })} />
      </Field>
    )
  }
  if (draft.type === 'USAGE') {
    return (
      <p className="col-span-full text-soft text-xs">
        It counts the bytes that the datasets take in, whatever is measured above: without a condition, by groups of @collection and
        @dataset.
      </p>
    )
  }
  return <PatternFields draft={draft} onChange={onChange} />
}

const patternChanges = [
  ['', 'the value that is measured'],
  ['NEW', 'message patterns that are new'],
  ['VANISHED', 'message patterns that stayed away'],
] as const
type PatternChange = (typeof patternChanges)[number][0]

/** PatternFields let the kinds of messages be watched in place of a value. */
function PatternFields({ draft: { aux = {} }, onChange }: RuleFieldsProps) {
  const { pattern_change, baseline, ...rest } = aux
  const change = patternChanges.find(([one]) => one === pattern_change)?.[0] ?? ''
  const set = (next: PatternChange, time: string) =>
    onChange({ aux: next === '' ? rest : { ...rest, pattern_change: next, baseline: time } })
  const time = typeof baseline === 'string' ? baseline : '1 day'
  return (
    <>
      <Field name="Compared is" className="col-span-2">
        <Select value={change} options={patternChanges} onPick={(next) => set(next, time)} />
      </Field>
      {change !== '' && (
        <Field name="Against the time before, of" help="such as 1 day">
          <Input value={time} required onChange={(event) => set(change, event.target.value)} />
        </Field>
      )}
    </>
  )
}
