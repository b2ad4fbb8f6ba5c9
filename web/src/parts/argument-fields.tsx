import type { TemplateParameters } from '@dendro/api'
import { Field, Input, TextArea } from '../ui/field.tsx'
import { argumentOf } from './template-arguments.ts'

/** Typed are the texts that were given for the parameters of a template, by their names. */
export type Typed = Readonly<Record<string, string>>

type TemplateFieldsProps = { parameters: TemplateParameters; typed: Typed; onType(typed: Typed): void }

/** TemplateFields ask for what a template needs. */
export function TemplateFields({ parameters, typed, onType }: TemplateFieldsProps) {
  const asked = Object.entries(parameters)
  if (asked.length === 0) return <p className="text-soft">Nothing.</p>
  return asked.map(([name, { type, description }]) => {
    const control = {
      value: typed[name] ?? '',
      required: true,
      onChange: (event: { target: { value: string } }) => onType({ ...typed, [name]: event.target.value }),
    }
    return (
      <Field key={name} name={name} help={[description, hints[type]].filter(Boolean).join(' · ')}>
        {type === 'OBJECT_LIST' ? <TextArea {...control} /> : <Input {...control} />}
      </Field>
    )
  })
}

const hints = {
  STRING: '',
  STRING_LIST: 'several, with commas between',
  DOUBLE: 'a number',
  BOOLEAN: 'true or false',
  OBJECT_LIST: 'a list as JSON',
} as const

type Asking = { id: string; parameters: TemplateParameters }

/** missingIn is the first parameter that nothing was given for. */
export const missingIn = ({ parameters }: Asking, typed: Typed): string | undefined =>
  Object.keys(parameters).find((name) => (typed[name] ?? '').trim() === '')

/** boundTo is a template with what was given for its parameters, as the service takes it. */
export const boundTo = ({ id, parameters }: Asking, typed: Typed) => ({
  id,
  arguments: Object.fromEntries(Object.entries(parameters).map(([name, { type }]) => [name, argumentOf(type, typed[name] ?? '')])),
})
