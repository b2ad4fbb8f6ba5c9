import type { MetricQuery, TemplateReference } from '@dendro/api'
import { useState } from 'react'
import { measureText } from '../../parts/query/metric-queries.ts'
import { FormField } from '../../parts/records/form.tsx'
import { TargetFields } from '../../parts/records/target-fields.tsx'
import { useMetricTemplates } from '../../parts/templates/metric-templates.tsx'
import {
  isMap,
  isText,
  isTextOrNumber,
  isTruth,
  parameters,
  parametersOf,
  references,
  type TemplateContent,
} from '../../parts/templates/placeholders.ts'
import type { TemplateForm } from '../../parts/templates/template-editor.tsx'
import {
  ParameterFields,
  type ParameterType,
  PlaceholderMark,
  ReferenceField,
  type TemplateFormProps,
  TemplateText,
  withParameters,
} from '../../parts/templates/template-form-fields.tsx'
import { Field, Select, TextArea } from '../../ui/field.tsx'
import type { MonitorFormState } from './draft.ts'
import { kindNames, operatorNames } from './labels.ts'
import { RuleFields, type RuleText } from './rule-fields.tsx'
import { draftOfTemplate, targetsIn, withDraft } from './template-draft.ts'

/** The parameter that each text of a rule becomes. */
const opened: Record<RuleText, { name: string; type: ParameterType; label: string }> = {
  threshold: { name: 'threshold', type: 'DOUBLE', label: 'threshold' },
  warning: { name: 'warning', type: 'DOUBLE', label: 'warning' },
  window: { name: 'window', type: 'STRING', label: 'window' },
  compareTo: { name: 'compare_to', type: 'STRING', label: 'comparison time' },
  evaluationWindow: { name: 'evaluation_window', type: 'STRING', label: 'baseline' },
}

/** The fields of a monitor with their template parameters. */
function MonitorTemplateFields({ content, onChange }: TemplateFormProps) {
  const metrics = useMetricTemplates()
  const reference = (content.metric ?? content.metric_id ?? { id: '' }) as TemplateReference
  const metric = metrics.data?.find(({ id }) => id === reference.id)
  // A typed number may be incomplete; the text stays until something else changes the template.
  const [written, setWritten] = useState<{ of: TemplateContent; draft: MonitorFormState }>()
  const known = draftOfTemplate(content, (metric?.queries ?? []) as MetricQuery[])
  const draft = written?.of === content ? { ...written.draft, queries: known.queries } : known
  const set = (change: Partial<MonitorFormState>, declared = {}) => {
    const next = withParameters(withDraft(content, draft, change), declared)
    setWritten({ of: next, draft: { ...draft, ...change } })
    onChange(next)
  }
  const declare = (name: string, type: ParameterType = 'STRING') => onChange(withParameters(content, { [name]: { type } }))
  const mark = (text: RuleText) => {
    const { name, type, label } = opened[text]
    return (
      <PlaceholderMark
        text={draft[text]}
        label={label}
        content={content}
        onDeclare={(declared) => declare(declared, type)}
        onOpen={() => set({ [text]: `{{${name}}}` }, { [name]: { type } })}
      />
    )
  }
  const own = { content, onChange }
  return (
    <>
      <TemplateText {...own} name="Name" of="name" />
      <TemplateText
        {...own}
        name="Description"
        of="description"
        isLong
        charsMax={4_000}
        help="Part of every notification: what the alert means, and what to do."
      />
      <h3 className="font-medium">Parameters</h3>
      <ParameterFields {...own} />
      <h3 className="font-medium">Query and threshold</h3>
      <ReferenceField
        label="Metric template"
        of={['metric', 'metric_id']}
        templates={metrics.data}
        reference={reference}
        declared={parametersOf(content)}
        onChange={(next, declared) => {
          const names = ['metric', 'metric_id'].filter((name) => name in content)
          const members = Object.fromEntries((names.length === 0 ? ['metric'] : names).map((name) => [name, next]))
          onChange(withParameters({ ...content, ...members }, declared))
        }}
      >
        {metric && <p className="break-words font-mono text-xs">{measureText(metric.queries)}</p>}
      </ReferenceField>
      <RuleFields draft={draft} mark={mark} onChange={set} />
      <h3 className="font-medium">Notifications</h3>
      <NotificationTargets {...own} onDeclare={declare} />
    </>
  )
}

/** NotificationTargets edit the recipients, or the raw text when a parameter supplies the list. */
function NotificationTargets({ content, onChange, onDeclare }: TemplateFormProps & { onDeclare(name: string): void }) {
  const actions = String(content.actions ?? '')
  const targets = targetsIn(actions)
  const onceText = content.notify_once === undefined ? 'false' : String(content.notify_once)
  const onces = [
    ['false', 'for each group'],
    ['true', 'once for all groups: when the first alerts and when the last recovers'],
  ] as const
  const set = (text: string, declared = {}) => onChange(withParameters({ ...content, actions: text }, declared))
  return (
    <>
      {targets ? (
        <TargetFields
          targets={targets}
          onChange={(next) => set(JSON.stringify(next))}
          mark={({ email = '' }, at) => (
            <PlaceholderMark
              text={email}
              label="address"
              content={content}
              onDeclare={onDeclare}
              onOpen={() =>
                set(JSON.stringify(targets.map((one, index) => (index === at ? { email: '{{email}}' } : one))), {
                  email: { type: 'STRING' },
                })
              }
            />
          )}
        />
      ) : (
        <FormField
          name="Actions: a JSON list, or a parameter"
          of="actions"
          below={<PlaceholderMark text={actions} label="actions" content={content} onDeclare={onDeclare} />}
        >
          <TextArea className="font-mono text-xs" value={actions} onChange={(event) => set(event.target.value)} />
        </FormField>
      )}
      <Field name="Notify">
        <Select
          value={onceText}
          options={onces.some(([one]) => one === onceText) ? onces : [...onces, [onceText, onceText] as const]}
          onPick={(next) => onChange({ ...content, notify_once: next })}
        />
      </Field>
    </>
  )
}

const oneOf = (names: readonly string[]) => (value: unknown) => names.some((name) => name === value)

export const monitorTemplateForm: TemplateForm = {
  Fields: MonitorTemplateFields,
  shapes: {
    name: isText,
    description: isText,
    comparison_operator: oneOf(Object.keys(operatorNames)),
    type: oneOf(Object.keys(kindNames)),
    monitor_type: oneOf(Object.keys(kindNames)),
    threshold: isTextOrNumber,
    warning_threshold: isTextOrNumber,
    actions: isText,
    notify_once: isTruth,
    window: isText,
    no_data_status: oneOf(['OK', 'NO_DATA', 'WARN', 'ALERT']),
    group_retention: (value) => typeof value === 'number',
    aux: isMap,
    compare_to: isText,
    change_type: oneOf(['DIFFERENCE', 'PERCENTAGE']),
    evaluation_window: isText,
    metric: references.one,
    metric_id: references.one,
    parameters,
  },
}
