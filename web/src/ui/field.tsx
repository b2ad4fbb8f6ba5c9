import type { ComponentProps, InputHTMLAttributes, ReactNode, SelectHTMLAttributes } from 'react'

const box = 'w-full rounded border border-line bg-ground px-2 placeholder:text-soft disabled:opacity-50'

/** A labeled control with an optional help text. */
export function Field({
  name,
  help,
  className = '',
  children,
}: {
  name: string
  help?: ReactNode
  className?: string
  children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label className={`flex min-w-0 flex-col gap-0.5 ${className}`}>
      <span className="text-soft text-xs">{name}</span>
      {children}
      {help && <span className="mt-1 text-soft text-xs">{help}</span>}
    </label>
  )
}

export const Input = ({ className = '', ...rest }: InputHTMLAttributes<HTMLInputElement>) => (
  <input className={`h-8 ${box} ${className}`} {...rest} />
)

export const TextArea = ({ className = '', ...rest }: ComponentProps<'textarea'>) => (
  <textarea className={`py-1 ${box} ${className}`} rows={2} {...rest} />
)

type SelectProps<T extends string> = Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange' | 'value'> & {
  value: T
  options: readonly (readonly [T, string])[]
  onPick(value: NoInfer<T>): void
}

/** Select has options of a value and a label. */
export function Select<T extends string>({ value, options, onPick, className = '', ...rest }: SelectProps<T>) {
  return (
    <select className={`h-8 ${box} ${className}`} value={value} onChange={(event) => onPick(event.target.value as T)} {...rest}>
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  )
}
