import type { IngestAction, RedactedKind } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { quantity } from '../../../parts/chart/numbers.ts'
import { FieldError, FormField } from '../../../parts/records/form.tsx'
import { useClient } from '../../../parts/shell/client.ts'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { Button } from '../../../ui/button.tsx'
import { Input, Select } from '../../../ui/field.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { actionNames, kindNames } from './action-text.ts'
import { NameFields, PairFields, type TextPair } from './field-lists.tsx'
import { firstActions } from './rule-draft.ts'
import { UploadTable } from './upload-table.tsx'

type ActionOf<Type extends IngestAction['type']> = Extract<IngestAction, { type: Type }>
type FieldsProps<Action> = { action: Action; onChange(action: Action): void }

const kindsOfValues = Object.keys(kindNames) as RedactedKind[]
const types = Object.entries(actionNames) as (readonly [IngestAction['type'], string])[]

/** What a rule does, and the settings of that. */
export function ActionFields({ action, onChange }: FieldsProps<IngestAction>) {
  return (
    <div className="flex flex-col gap-3">
      <FormField name="Action" of="action.type">
        <Select className="sm:max-w-80" value={action.type} options={types} onPick={(type) => onChange(firstActions[type])} />
      </FormField>
      {settingsOf(action, onChange)}
    </div>
  )
}

function settingsOf(action: IngestAction, onChange: (action: IngestAction) => void) {
  switch (action.type) {
    case 'DROP':
      return <p className="text-soft text-sm">Matching events are accepted, counted in the ledger and not stored.</p>
    case 'SAMPLE':
      return <SampleFields action={action} onChange={onChange} />
    case 'TAIL_SAMPLE':
      return <TailSampleFields action={action} onChange={onChange} />
    case 'ADD_FIELDS':
      return (
        <PairFields
          names={['Field', 'Value']}
          of={['action.fields', 'name', 'value']}
          noun="field"
          pairs={action.fields.map(({ name, value }) => [name, value])}
          onChange={(pairs) => onChange({ ...action, fields: pairs.map(([name, value]) => ({ name, value })) })}
        />
      )
    case 'RENAME_FIELDS':
      return (
        <PairFields
          names={['Field', 'New name']}
          of={['action.fields', 'from', 'to']}
          noun="field"
          pairs={action.fields.map(({ from, to }) => [from, to])}
          onChange={(pairs) => onChange({ ...action, fields: pairs.map(([from, to]) => ({ from, to })) })}
        />
      )
    case 'REMOVE_FIELDS':
      return <NameFields of="action.names" noun="field" names={action.names} onChange={(names) => onChange({ ...action, names })} />
    case 'PARSE':
      return <ParseFields action={action} onChange={onChange} />
    case 'SET_TAGS':
      return <TagFields action={action} onChange={onChange} />
    case 'SET_DATASET':
      return <DatasetFields action={action} onChange={onChange} />
    case 'LOOKUP':
      return <LookupFields action={action} onChange={onChange} />
    case 'GEOIP':
      return (
        <div className="grid gap-3 sm:grid-cols-2">
          <FormField name="Field with the address" of="action.key">
            <Input className="font-mono" value={action.key} onChange={({ target }) => onChange({ ...action, key: target.value })} />
          </FormField>
          <FormField name="Prefix of the new fields" of="action.prefix">
            <Input className="font-mono" value={action.prefix} onChange={({ target }) => onChange({ ...action, prefix: target.value })} />
          </FormField>
        </div>
      )
    case 'COUNT':
      return (
        <div className="flex flex-col gap-3">
          <FormField
            name="Metric"
            of="action.metric"
            className="sm:max-w-80"
            help="The dataset in the collection metrics that gets the counts. The events themselves stay as they are."
          >
            <Input value={action.metric} onChange={({ target }) => onChange({ ...action, metric: target.value })} />
          </FormField>
          <NameFields of="action.by" noun="field to count by" isOptional names={action.by} onChange={(by) => onChange({ ...action, by })} />
        </div>
      )
    case 'REDACT':
      return <RedactFields action={action} onChange={onChange} />
  }
}

function SampleFields({ action, onChange }: FieldsProps<ActionOf<'SAMPLE'>>) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <ShareField name="Percent to keep" keep={action.keep} onChange={(keep) => onChange({ ...action, keep })} />
      <FormField
        name="Keep together by (optional)"
        of="action.key"
        help="Events with the same value are all kept or all dropped, such as whole traces by trace_id."
      >
        <Input
          className="font-mono"
          value={action.key ?? ''}
          onChange={({ target: { value } }) => {
            const { key: _key, ...rest } = action
            onChange(value === '' ? rest : { ...rest, key: value })
          }}
        />
      </FormField>
    </div>
  )
}

type ShareFieldProps = { name: string; keep: number; onChange(keep: number): void }

const ShareField = ({ name, keep, onChange }: ShareFieldProps) => (
  <FormField name={name} of="action.keep">
    <Input
      type="number"
      min={0}
      max={100}
      step="any"
      required
      value={Number((keep * 100).toPrecision(6))}
      onChange={({ target }) => onChange(Math.min(1, Math.max(0, Number(target.value) / 100)))}
    />
  </FormField>
)

function TailSampleFields({ action, onChange }: FieldsProps<ActionOf<'TAIL_SAMPLE'>>) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <label className="flex items-center gap-2 sm:col-span-2">
        <input
          type="checkbox"
          checked={action.keep_errors}
          onChange={({ target }) => onChange({ ...action, keep_errors: target.checked })}
        />
        Keep all traces with failed spans
      </label>
      <FormField name="Keep all with a span of this many milliseconds (optional)" of="action.slower_than_ms">
        <Input
          type="number"
          min={1}
          value={action.slower_than_ms ?? ''}
          onChange={({ target: { value } }) => {
            const { slower_than_ms: _slower, ...rest } = action
            onChange(value === '' ? rest : { ...rest, slower_than_ms: Number(value) })
          }}
        />
      </FormField>
      <ShareField name="Percent of the others to keep" keep={action.keep} onChange={(keep) => onChange({ ...action, keep })} />
      <FormField
        name="Seconds to wait"
        of="action.wait_s"
        help="How long the first spans of a trace wait for the others. They are not found meanwhile."
      >
        <Input
          type="number"
          min={1}
          max={300}
          required
          value={action.wait_s}
          onChange={({ target }) => onChange({ ...action, wait_s: Number(target.value) })}
        />
      </FormField>
    </div>
  )
}

function RedactFields({ action, onChange }: FieldsProps<ActionOf<'REDACT'>>) {
  const { kinds, expressions, replacement } = action
  const changeAt = (at: number, by: Partial<(typeof expressions)[number]>) =>
    onChange({ ...action, expressions: expressions.map((one, index) => (index === at ? { ...one, ...by } : one)) })
  return (
    <div className="flex flex-col gap-3">
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="mb-0.5 text-soft text-xs">Kinds of values</legend>
        {kindsOfValues.map((kind) => (
          <label key={kind} className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={kinds.includes(kind)}
              onChange={({ target }) =>
                onChange({ ...action, kinds: kindsOfValues.filter((one) => (one === kind ? target.checked : kinds.includes(one))) })
              }
            />
            {kindNames[kind]}
          </label>
        ))}
      </fieldset>
      <FieldError of="action.kinds" />
      {expressions.map((expression, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an expression has no id, and its text changes while typing
        <div key={at} className="flex flex-wrap items-end gap-2">
          <FormField className="min-w-48 flex-1" name="Regular expression (RE2)" of={`action.expressions.${at}.pattern`}>
            <Input className="font-mono" value={expression.pattern} onChange={({ target }) => changeAt(at, { pattern: target.value })} />
          </FormField>
          <label className="flex h-8 items-center gap-2">
            <input
              type="checkbox"
              checked={expression.ignore_case}
              onChange={({ target }) => changeAt(at, { ignore_case: target.checked })}
            />
            any case
          </label>
          <IconButton
            icon={X}
            label={`Remove expression ${at + 1}`}
            className="mb-1"
            onClick={() => onChange({ ...action, expressions: expressions.filter((_, index) => index !== at) })}
          />
        </div>
      ))}
      <Button
        size="small"
        variant="quiet"
        className="self-start"
        onClick={() => onChange({ ...action, expressions: [...expressions, { pattern: '', ignore_case: false }] })}
      >
        Add an expression
      </Button>
      <FormField name="Replacement" of="action.replacement" className="sm:max-w-80">
        <Input className="font-mono" value={replacement} onChange={({ target }) => onChange({ ...action, replacement: target.value })} />
      </FormField>
    </div>
  )
}

const formats = [
  ['GROK', 'Grok'],
  ['DISSECT', 'Dissect'],
] as const

function ParseFields({ action, onChange }: FieldsProps<ActionOf<'PARSE'>>) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <FormField name="Format" of="action.format">
        <Select value={action.format} options={formats} onPick={(format) => onChange({ ...action, format })} />
      </FormField>
      <FormField name="Field (optional)" of="action.key" help="The field to parse; without it the message.">
        <Input
          className="font-mono"
          value={action.key ?? ''}
          onChange={({ target: { value } }) => {
            const { key: _key, ...rest } = action
            onChange(value === '' ? rest : { ...rest, key: value })
          }}
        />
      </FormField>
      <FormField name="Pattern" of="action.pattern" className="sm:col-span-2">
        <Input
          className="font-mono"
          placeholder={action.format === 'GROK' ? '%{IP:client} %{WORD:method} %{NOTSPACE:path}' : '%{client} %{method} %{path}'}
          value={action.pattern}
          onChange={({ target }) => onChange({ ...action, pattern: target.value })}
        />
      </FormField>
    </div>
  )
}

/** Tags while they are typed: two may have one name for a moment. */
function TagFields({ action, onChange }: FieldsProps<ActionOf<'SET_TAGS'>>) {
  const [pairs, setPairs] = useState<readonly TextPair[]>(Object.keys(action.tags).length === 0 ? [['', '']] : Object.entries(action.tags))
  return (
    <PairFields
      names={['Tag', 'Value']}
      of={['action.tags', '', '']}
      noun="tag"
      pairs={pairs}
      onChange={(next) => {
        setPairs(next)
        onChange({ ...action, tags: Object.fromEntries(next.filter(([name, value]) => name !== '' && value !== '')) })
      }}
    />
  )
}

function DatasetFields({ action, onChange }: FieldsProps<ActionOf<'SET_DATASET'>>) {
  const { collection = '', dataset } = action
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <FormField name="Collection (optional)" of="action.collection" help="Without it events stay in their collection.">
        <Input
          value={collection}
          onChange={({ target: { value } }) => onChange({ type: 'SET_DATASET', dataset, ...(value === '' ? {} : { collection: value }) })}
        />
      </FormField>
      <FormField name="Dataset" of="action.dataset" help="Of the rules that follow, those of the new dataset apply.">
        <Input value={dataset} required onChange={({ target }) => onChange({ ...action, dataset: target.value })} />
      </FormField>
    </div>
  )
}

function LookupFields({ action, onChange }: FieldsProps<ActionOf<'LOOKUP'>>) {
  const client = useClient()
  const tables = useQuery({ queryKey: ['lookup tables'], queryFn: ({ signal }) => client.lookupTables.list({ signal }) })
  const names = tables.data?.lookup_tables.map(({ name }) => name) ?? []
  const known = tables.data?.lookup_tables.find(({ name }) => name === action.table)
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <FormField
          name="Table"
          of="action.table"
          help={tables.error ? 'The tables could not be loaded.' : known && `${quantity(known.rows, 'row')}, by ${known.key}`}
        >
          <Select
            value={action.table}
            options={[['', 'Select a table'], ...names.map((name) => [name, name] as const)]}
            onPick={(table) => onChange({ ...action, table, columns: [] })}
          />
        </FormField>
        <FormField name="Field" of="action.key" help="Its value is looked up in the key column.">
          <Input className="font-mono" value={action.key} onChange={({ target }) => onChange({ ...action, key: target.value })} />
        </FormField>
      </div>
      <Permitted to="ingest_rules_write">
        <UploadTable onSaved={(table) => onChange({ ...action, table, columns: [] })} />
      </Permitted>
      <NameFields
        of="action.columns"
        noun="column (all without one)"
        isOptional
        names={action.columns}
        onChange={(columns) => onChange({ ...action, columns })}
      />
    </div>
  )
}
