import { X } from 'lucide-react'
import { FormField } from '../../../parts/records/form.tsx'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/field.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'

export type TextPair = readonly [string, string]

type PairFieldsProps = {
  names: TextPair
  /** The name of the list in the API, and those of its members. */
  of: readonly [list: string, first: string, second: string]
  noun: string
  pairs: readonly TextPair[]
  onChange(pairs: TextPair[]): void
}

/** Edits a list of pairs, such as fields with their values. */
export function PairFields({ names, of: [list, first, second], noun, pairs, onChange }: PairFieldsProps) {
  const change = (at: number, by: TextPair) => onChange(pairs.map((one, index) => (index === at ? by : one)))
  const fieldOf = (at: number, member: string) => (member === '' ? list : `${list}.${at}.${member}`)
  return (
    <div className="flex flex-col gap-2">
      {pairs.map(([one, other], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pair has no id, and its texts change while typing
        <div key={at} className="flex items-start gap-2">
          <FormField className="flex-1" name={names[0]} of={fieldOf(at, first)}>
            <Input className="font-mono" value={one} onChange={({ target }) => change(at, [target.value, other])} />
          </FormField>
          <FormField className="flex-1" name={names[1]} of={fieldOf(at, second)}>
            <Input className="font-mono" value={other} onChange={({ target }) => change(at, [one, target.value])} />
          </FormField>
          {pairs.length > 1 && (
            <Remove label={`Remove ${noun} ${at + 1}`} onRemove={() => onChange(pairs.filter((_, index) => index !== at))} />
          )}
        </div>
      ))}
      <Button size="small" variant="quiet" className="self-start" onClick={() => onChange([...pairs, ['', '']])}>
        {`Add a ${noun}`}
      </Button>
    </div>
  )
}

type NameFieldsProps = {
  of: string
  noun: string
  names: readonly string[]
  /** An optional list may be empty. */
  isOptional?: boolean
  onChange(names: string[]): void
}

/** Edits a list of names. */
export function NameFields({ of, noun, names, isOptional = false, onChange }: NameFieldsProps) {
  const [first = ''] = noun
  return (
    <div className="flex flex-col gap-2">
      {names.map((name, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a name changes while typing
        <div key={at} className="flex items-start gap-2 sm:max-w-80">
          <FormField className="flex-1" name={first.toUpperCase() + noun.slice(1)} of={`${of}.${at}`}>
            <Input
              className="font-mono"
              value={name}
              onChange={({ target }) => onChange(names.map((one, index) => (index === at ? target.value : one)))}
            />
          </FormField>
          {(isOptional || names.length > 1) && (
            <Remove label={`Remove ${noun} ${at + 1}`} onRemove={() => onChange(names.filter((_, index) => index !== at))} />
          )}
        </div>
      ))}
      <Button size="small" variant="quiet" className="self-start" onClick={() => onChange([...names, ''])}>
        {`Add a ${noun}`}
      </Button>
    </div>
  )
}

const Remove = ({ label, onRemove }: { label: string; onRemove(): void }) => (
  <IconButton icon={X} label={label} className="mt-5.5" onClick={onRemove} />
)
