import type { TemplateParameters } from '@dendro/api'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { argumentOf } from './template-arguments.ts'

/** Typed are the entered texts by parameter name. */
export type ArgumentTexts = Readonly<Record<string, string>>

type TemplateFieldsProps = { parameters: TemplateParameters; typed: ArgumentTexts; onType(typed: ArgumentTexts): void }

/** The inputs for the parameters of a template. */
export function ArgumentFields({ parameters, typed, onType }: TemplateFieldsProps) {
  const declared = Object.entries(parameters)
  if (declared.length === 0) return <p className="text-soft">No parameters.</p>
  return declared.map(([name, { type, description }]) => {
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
  STRING_LIST: 'a list, separated by commas',
  DOUBLE: 'a number',
  BOOLEAN: 'true or false',
  OBJECT_LIST: 'a JSON list',
} as const

type TemplateRef = { id: string; parameters: TemplateParameters }

/** The first parameter without a value. */
export const missingArgument = ({ parameters }: TemplateRef, typed: ArgumentTexts): string | undefined =>
  Object.keys(parameters).find((name) => (typed[name] ?? '').trim() === '')

/** A template with its arguments in the form of the API. */
export const boundTemplate = ({ id, parameters }: TemplateRef, typed: ArgumentTexts) => ({
  id,
  arguments: Object.fromEntries(Object.entries(parameters).map(([name, { type }]) => [name, argumentOf(type, typed[name] ?? '')])),
})
