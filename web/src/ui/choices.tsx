import { Button } from './button.tsx'

type ChoicesProps<T> = {
  /** Names the group. */
  label: string
  /** Each is a value, its label and, where that needs one, an explanation. */
  options: readonly (readonly [T, string, string?])[]
  value: T
  size?: 'normal' | 'small'
  onPick(value: NoInfer<T>): void
}

/** The frame is as high as a button that stands alone. */
const frames = { normal: '*:h-7.5', small: '*:h-6' }

/** Buttons of which one is chosen, in a frame that tells them from the group beside them. */
export const Choices = <T extends string | boolean | undefined>({ label, options, value, size = 'normal', onPick }: ChoicesProps<T>) => (
  <fieldset aria-label={label} className={`flex w-fit max-w-full flex-wrap rounded border border-line bg-panel ${frames[size]}`}>
    {options.map(([one, name, title]) => (
      <Button
        key={String(one)}
        size={size}
        variant={one === value ? 'chosen' : 'quiet'}
        aria-pressed={one === value}
        title={title}
        onClick={() => onPick(one)}
      >
        {name}
      </Button>
    ))}
  </fieldset>
)
