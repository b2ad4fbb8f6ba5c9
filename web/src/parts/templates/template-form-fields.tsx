import type { TemplateParameters, TemplateReference } from '@dendro/api'
import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { FieldError, FormField } from '../records/form.tsx'
import { parametersOf, placeholdersIn, placeholdersUsed, type TemplateContent } from './placeholders.ts'

/** The props of every template form. */
export type TemplateFormProps = { content: TemplateContent; onChange(content: TemplateContent): void }

type Parameter = TemplateParameters[string]
export type ParameterType = Parameter['type']

/** withParameters declares parameters that are not declared yet. */
export const withParameters = (content: TemplateContent, declared: TemplateParameters): TemplateContent =>
  Object.keys(declared).length === 0 ? content : { ...content, parameters: { ...declared, ...parametersOf(content) } }

type PlaceholderMarkProps = {
  text: string
  /** Names the text. */
  label: string
  content: TemplateContent
  /** Replaces the whole text with a parameter. */
  onOpen?: (() => void) | undefined
  onDeclare(name: string): void
}

/** Lists the placeholders of a text and offers to declare missing parameters. */
export function PlaceholderMark({ text, label, content, onOpen, onDeclare }: PlaceholderMarkProps) {
  const names = placeholdersIn(text)
  const declared = parametersOf(content)
  if (names.length === 0) {
    if (!onOpen) return null
    return (
      <Button size="small" variant="quiet" className="self-start" aria-label={`Make a parameter: ${label}`} onClick={onOpen}>
        Make a parameter
      </Button>
    )
  }
  return (
    <ul className="flex flex-wrap items-center gap-1 text-xs" aria-label={`Parameters: ${label}`}>
      {names.map((name) =>
        Object.hasOwn(declared, name) ? (
          <li key={name} className="rounded bg-tint px-1.5 text-ink">
            uses <span className="font-mono">{name}</span>
          </li>
        ) : (
          <li key={name} className="flex flex-wrap items-center gap-1 text-error">
            <span>
              <span className="font-mono">{name}</span> is not declared
            </span>
            {name !== '' && (
              <Button size="small" onClick={() => onDeclare(name)}>
                Declare {name}
              </Button>
            )}
          </li>
        ),
      )}
    </ul>
  )
}

type TemplateTextProps = TemplateFormProps & {
  name: string
  of: string
  help?: string
  isLong?: boolean
  charsMax?: number
  className?: string
}

/** A text that may contain placeholders. */
export function TemplateText({ content, onChange, name, of, help, isLong = false, charsMax = 255, className = '' }: TemplateTextProps) {
  const text = String(content[of] ?? '')
  const control = {
    value: text,
    maxLength: charsMax,
    onChange: (event: { target: { value: string } }) => onChange({ ...content, [of]: event.target.value }),
  }
  return (
    <FormField
      name={name}
      of={of}
      {...(help ? { help } : {})}
      className={className}
      below={
        <PlaceholderMark
          text={text}
          label={name}
          content={content}
          onDeclare={(declared) => onChange(withParameters(content, { [declared]: { type: 'STRING' } }))}
        />
      }
    >
      {isLong ? <TextArea {...control} /> : <Input {...control} />}
    </FormField>
  )
}

const typeNames: Record<ParameterType, string> = {
  STRING: 'Text',
  STRING_LIST: 'List of texts',
  DOUBLE: 'Number',
  BOOLEAN: 'True or false',
  OBJECT_LIST: 'List of objects',
}
const types = Object.entries(typeNames) as [ParameterType, string][]

type Row = { name: string; parameter: Parameter }
const rowsOf = (declared: TemplateParameters): Row[] => Object.entries(declared).map(([name, parameter]) => ({ name, parameter }))
const parametersFrom = (rows: readonly Row[]): TemplateParameters =>
  Object.fromEntries(rows.flatMap(({ name, parameter }) => (name.trim() === '' ? [] : [[name.trim(), parameter]])))

/** ParameterFields edit the parameters; unnamed and duplicate ones are not saved. */
export function ParameterFields({ content, onChange }: TemplateFormProps) {
  const declared = parametersOf(content)
  // Incomplete rows stay until the parameters change from outside.
  const [written, setWritten] = useState({ of: declared, rows: rowsOf(declared) })
  const rows = written.of === content.parameters ? written.rows : rowsOf(declared)
  const used = placeholdersUsed(content)
  const set = (next: readonly Row[]) => {
    const parameters = parametersFrom(next)
    setWritten({ of: parameters, rows: [...next] })
    onChange({ ...content, parameters })
  }
  const change = (at: number, by: Partial<Row>) => set(rows.map((row, index) => (index === at ? { ...row, ...by } : row)))
  return (
    <div className="flex flex-col gap-2">
      {rows.length === 0 && <p className="text-soft text-xs">No parameters: every use of the template creates the same.</p>}
      {rows.map(({ name, parameter }, at) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: a parameter has no id, and its name changes while typing
          key={at}
          aria-label={`Parameter ${name}`}
          className="grid grid-cols-[1fr_1fr_auto] items-start gap-2 md:grid-cols-[1fr_1fr_2fr_auto]"
        >
          <Field name="Name">
            <Input className="font-mono" value={name} maxLength={255} onChange={(event) => change(at, { name: event.target.value })} />
            <Remark
              name={name}
              isTwice={rows.some((row, index) => index < at && row.name.trim() === name.trim())}
              isUsed={used.has(name)}
            />
          </Field>
          <Field name="Type">
            <Select value={parameter.type} options={types} onPick={(type) => change(at, { parameter: { ...parameter, type } })} />
          </Field>
          <Field name="Description" className="max-md:order-last max-md:col-span-3">
            <Input
              value={parameter.description ?? ''}
              maxLength={1_024}
              onChange={(event) => change(at, { parameter: { ...parameter, description: event.target.value } })}
            />
          </Field>
          <Button
            variant="quiet"
            className="mt-4.5"
            aria-label={`Remove the parameter ${name}`}
            onClick={() => set(rows.filter((_, index) => index !== at))}
          >
            <Icon of={X} size="small" />
          </Button>
        </fieldset>
      ))}
      <FieldError of="parameters" />
      <Button
        size="small"
        variant="quiet"
        className="self-start"
        onClick={() => set([...rows, { name: '', parameter: { type: 'STRING' } }])}
      >
        Add a parameter
      </Button>
    </div>
  )
}

function Remark({ name, isTwice, isUsed }: { name: string; isTwice: boolean; isUsed: boolean }) {
  if (name.trim() === '') return <span className="text-soft text-xs">needs a name</span>
  if (isTwice) return <span className="text-error text-xs">is declared twice</span>
  return isUsed ? null : <span className="text-soft text-xs">no text uses {`{{${name}}}`}</span>
}

type Referred = { id: string; name: string; parameters: TemplateParameters }

type ReferenceFieldProps = {
  label: string
  of: string | readonly string[]
  templates: readonly Referred[] | undefined
  reference: TemplateReference
  /** The parameters of the outer template. */
  declared: TemplateParameters
  /** onChange also receives the parameters to declare. */
  onChange(reference: TemplateReference, declared: TemplateParameters): void
  onRemove?: (() => void) | undefined
  children?: ReactNode
}

/** Selects a nested template and its arguments. */
export function ReferenceField(props: ReferenceFieldProps) {
  const { label, of, templates, reference, declared, onChange, onRemove, children } = props
  const { id, arguments: given = {} } = reference
  const chosen = templates?.find((one) => one.id === id)
  const known = (templates ?? []).map((one) => [one.id, one.name] as const)
  const strange = chosen ? [] : [[id, id === '' ? 'Select…' : templates ? 'Deleted template' : '…'] as const]
  const pick = (next: string) => {
    const parameters = templates?.find((one) => one.id === next)?.parameters ?? {}
    const inputs = Object.fromEntries(Object.keys(parameters).map((name) => [name, { input: name }]))
    onChange({ id: next, arguments: inputs }, parameters)
  }
  const names = chosen ? Object.keys(chosen.parameters) : Object.keys(given)
  return (
    <fieldset aria-label={label} className="flex flex-col gap-2 rounded border border-line p-2">
      <div className="flex items-end gap-2">
        <FormField name={label} of={of} className="flex-1">
          <Select value={id} options={[...strange, ...known]} onPick={pick} />
        </FormField>
        {onRemove && (
          <Button variant="quiet" aria-label={`Remove ${chosen?.name ?? label}`} onClick={onRemove}>
            <Icon of={X} size="small" />
          </Button>
        )}
      </div>
      {children}
      {names.map((name) => (
        <ArgumentField
          key={name}
          name={name}
          argument={given[name]}
          declared={declared}
          onChange={(argument, isNew) =>
            onChange(
              { id, arguments: { ...given, [name]: argument } },
              isNew ? { [name]: chosen?.parameters[name] ?? { type: 'STRING' } } : {},
            )
          }
        />
      ))}
    </fieldset>
  )
}

type ReferenceListProps = {
  label: string
  /** Names the item that the button adds. */
  add: string
  of: string
  templates: readonly Referred[] | undefined
  references: readonly TemplateReference[]
  declared: TemplateParameters
  onChange(references: TemplateReference[], declared: TemplateParameters): void
}

/** Edits the nested templates in order. */
export function ReferenceList({ label, add, of, templates, references, declared, onChange }: ReferenceListProps) {
  return (
    <>
      {references.map((reference, at) => (
        <ReferenceField
          // biome-ignore lint/suspicious/noArrayIndexKey: the same template can be used twice
          key={at}
          label={references.length === 1 ? label : `${label} ${at + 1}`}
          of={`${of}.${at}`}
          templates={templates}
          reference={reference}
          declared={declared}
          onChange={(next, more) =>
            onChange(
              references.map((one, index) => (index === at ? next : one)),
              more,
            )
          }
          onRemove={() =>
            onChange(
              references.filter((_, index) => index !== at),
              {},
            )
          }
        />
      ))}
      <Button size="small" variant="quiet" className="self-start" onClick={() => onChange([...references, { id: '' }], {})}>
        + {add}
      </Button>
    </>
  )
}

type Argument = NonNullable<TemplateReference['arguments']>[string]
const ALWAYS = 'always'
const NEW = 'new'

type ArgumentFieldProps = {
  name: string
  argument: Argument | undefined
  declared: TemplateParameters
  onChange(argument: Argument, isNew: boolean): void
}

function ArgumentField({ name, argument, declared, onChange }: ArgumentFieldProps) {
  const input = argument && 'input' in argument ? argument.input : undefined
  const value = input === undefined ? (argument ? ALWAYS : '') : `declared ${input}`
  const isKnown = input === undefined || Object.hasOwn(declared, input)
  const options: (readonly [string, string])[] = [
    ...(argument ? [] : [['', 'Select…'] as const]),
    ...(isKnown ? [] : [[value, `${input} (not declared)`] as const]),
    ...Object.keys(declared).map((one) => [`declared ${one}`, `parameter ${one}`] as const),
    ...(Object.hasOwn(declared, name) ? [] : [[NEW, `new parameter ${name}`] as const]),
    [ALWAYS, 'fixed value'],
  ]
  const pick = (next: string) => {
    if (next === NEW) onChange({ input: name }, true)
    else onChange(next === ALWAYS ? { literal: '' } : { input: next.slice('declared '.length) }, false)
  }
  return (
    <div className="grid items-end gap-2 sm:grid-cols-2">
      <Field name={`${name} is`}>
        <Select value={value} options={options} onPick={pick} className={isKnown ? '' : 'text-error'} />
      </Field>
      {argument && 'literal' in argument && (
        <Input
          aria-label={`Value of ${name}`}
          value={textOf(argument.literal)}
          onChange={(event) => onChange({ literal: event.target.value }, false)}
        />
      )}
    </div>
  )
}

/** Formats a literal as the API accepts it. */
const textOf = (literal: Extract<Argument, { literal: unknown }>['literal']): string =>
  typeof literal === 'string' ? literal : JSON.stringify(literal)
