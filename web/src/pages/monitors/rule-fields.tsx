import type { ReactNode } from 'react'
import { FormField } from '../../parts/records/form.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { type MonitorFormState, offeredWindows } from './draft.ts'
import { type FormKind, type FormOperator, kindNames, operatorNames } from './labels.ts'

/** A RuleText is a text of a rule that a template may parameterize. */
export type RuleText = 'threshold' | 'warning' | 'window' | 'compareTo' | 'evaluationWindow'

type RuleFieldsProps = {
  draft: MonitorFormState
  /** Shows the parameters in a template text. */
  mark?: (text: RuleText) => ReactNode
  /** Says why the window is not as long as the range that the monitor was made from. */
  windowNote?: string | undefined
  onChange(change: Partial<MonitorFormState>): void
}

const kinds = Object.entries(kindNames) as [FormKind, string][]
const operators = Object.entries(operatorNames) as [FormOperator, string][]

/** RuleFields edit the rule: kind, window, thresholds and the status without data. */
export function RuleFields({ draft, mark, windowNote, onChange }: RuleFieldsProps) {
  const { type, operator, threshold, warning, window, noData, retentionHours } = draft
  const hasGroups = draft.queries.some(({ groups }) => (groups ?? []).length > 0)
  return (
    <div className="grid grid-cols-2 gap-2 md:grid-cols-4">
      <Field name="Kind" className="col-span-2">
        <Select value={type} options={kinds} onPick={(next) => onChange({ type: next, ...operatorFor(next, operator) })} />
      </Field>
      <FormField name="Window" of="window" help={windowNote} below={mark?.('window')}>
        <Select
          value={window}
          options={offeredWindows(window).map((one) => [one, one.includes('{{') ? one : one.toLowerCase()] as const)}
          onPick={(next) => onChange({ window: next })}
        />
      </FormField>
      <Field name="Status when no data">
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
      <Field name="Alert when the value is">
        <Select
          value={operator}
          options={operators.filter(([one]) => one !== 'OUTSIDE' || type === 'ANOMALY_DETECTION')}
          onPick={(next) => onChange({ operator: next })}
        />
      </Field>
      <FormField name={thresholdName(type, draft.changeType)} of="threshold" below={mark?.('threshold')}>
        <Input inputMode="decimal" value={threshold} required onChange={(event) => onChange({ threshold: event.target.value })} />
      </FormField>
      <FormField name="Warn at" of="warning_threshold" below={mark?.('warning')}>
        <Input inputMode="decimal" placeholder="none" value={warning} onChange={(event) => onChange({ warning: event.target.value })} />
      </FormField>
      {hasGroups && (
        <Field name="Remove groups after" help="hours without events">
          <Input
            inputMode="decimal"
            placeholder="24"
            value={retentionHours}
            onChange={(event) => onChange({ retentionHours: event.target.value })}
          />
        </Field>
      )}
      <KindFields draft={draft} {...(mark ? { mark } : {})} onChange={onChange} />
    </div>
  )
}

/** Replaces an operator that the kind does not support. */
const operatorFor = (kind: FormKind, operator: FormOperator): Partial<MonitorFormState> => {
  if (kind === 'ANOMALY_DETECTION') return { operator: 'OUTSIDE', threshold: '3', warning: '' }
  return operator === 'OUTSIDE' ? { operator: 'ABOVE' } : {}
}

const thresholdName = (type: FormKind, change: MonitorFormState['changeType']): string =>
  ({
    PATTERN: 'Threshold',
    USAGE: 'Bytes',
    CHANGE_DETECTION: change === 'PERCENTAGE' ? 'Percent' : 'Difference',
    ANOMALY_DETECTION: 'Deviations',
  })[type]

function KindFields({ draft, mark, onChange }: RuleFieldsProps) {
  if (draft.type === 'CHANGE_DETECTION') {
    return (
      <>
        <FormField name="Compared with" of="compare_to" help="5 mins ago to 1 month ago" below={mark?.('compareTo')}>
          <Input value={draft.compareTo} required onChange={(event) => onChange({ compareTo: event.target.value })} />
        </FormField>
        <Field name="Change as">
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
      <FormField name="Baseline" of="evaluation_window" help="10 to 1000 windows, at most 30 days" below={mark?.('evaluationWindow')}>
        <Input value={draft.evaluationWindow} required onChange={(event) => onChange({ evaluationWindow: event.target.value })} />
      </FormField>
    )
  }
  if (draft.type === 'USAGE') return <UsageFields draft={draft} onChange={onChange} />
  return <PatternFields draft={draft} onChange={onChange} />
}

const spendMeasures = [
  ['', 'the bytes of the window'],
  ['MONTH', 'the month so far'],
  ['FORECAST', 'the forecast of the month'],
] as const
const spendUnits = [
  ['BYTES', 'bytes'],
  ['MONEY', 'money'],
] as const

/** UsageFields watch the bytes of a window, or the spend of the month. */
function UsageFields({ draft: { aux = {} }, onChange }: Pick<RuleFieldsProps, 'draft' | 'onChange'>) {
  const { spend, unit, ...rest } = aux
  const measure = spendMeasures.find(([one]) => one === spend)?.[0] ?? ''
  const chosen = spendUnits.find(([one]) => one === unit)?.[0] ?? 'BYTES'
  return (
    <>
      <Field name="Evaluates" className="col-span-2">
        <Select
          value={measure}
          options={spendMeasures}
          onPick={(next) => onChange(next === '' ? { aux: rest } : { aux: { ...rest, spend: next, unit: chosen }, window: 'Last 1 day' })}
        />
      </Field>
      {measure !== '' && (
        <Field name="Unit" help="money needs a price, which the page Spend has">
          <Select value={chosen} options={spendUnits} onPick={(next) => onChange({ aux: { ...rest, spend: measure, unit: next } })} />
        </Field>
      )}
      <p className="col-span-full text-soft text-xs">
        {measure === ''
          ? 'This monitor measures the ingested bytes of the datasets, not the measure above. It accepts no condition, and only @collection and @dataset as groups.'
          : 'This monitor watches what the datasets take in during the month, not the measure above. It accepts no condition and no groups, and its window is a day.'}
      </p>
    </>
  )
}

const patternChanges = [
  ['', 'the measured value'],
  ['NEW', 'new message patterns'],
  ['VANISHED', 'vanished message patterns'],
] as const
type PatternChange = (typeof patternChanges)[number][0]

/** PatternFields watch message patterns instead of a value. */
function PatternFields({ draft: { aux = {} }, onChange }: RuleFieldsProps) {
  const { pattern_change, baseline, ...rest } = aux
  const change = patternChanges.find(([one]) => one === pattern_change)?.[0] ?? ''
  const set = (next: PatternChange, time: string) =>
    onChange({ aux: next === '' ? rest : { ...rest, pattern_change: next, baseline: time } })
  const time = typeof baseline === 'string' ? baseline : '1 day'
  return (
    <>
      <Field name="Evaluates" className="col-span-2">
        <Select value={change} options={patternChanges} onPick={(next) => set(next, time)} />
      </Field>
      {change !== '' && (
        <Field name="Compare with" help="the time before, for example 1 day">
          <Input value={time} required onChange={(event) => set(change, event.target.value)} />
        </Field>
      )}
    </>
  )
}
