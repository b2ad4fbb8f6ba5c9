import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { copyText } from '../../parts/copy.ts'

export type ValueActions = {
  include(key: string, value: string): void
  exclude(key: string, value: string): void
  only(key: string, value: string): void
  addColumn(key: string): void
  groupBy(key: string): void
}

type ValueMenuProps = { name: string; value: string; actions: ValueActions; children: ReactNode; className?: string }

/** ValueMenu is what can be done with a value, the same wherever one is shown. */
export function ValueMenu({ name, value, actions, children, className = '' }: ValueMenuProps) {
  const items: [string, () => unknown][] = [
    ['Include', () => actions.include(name, value)],
    ['Exclude', () => actions.exclude(name, value)],
    ['Only this', () => actions.only(name, value)],
    ['Show as a column', () => actions.addColumn(name)],
    ['Group by this key', () => actions.groupBy(name)],
    ['Copy the value', () => copyText(value)],
    ['Copy the key', () => copyText(name)],
  ]
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        className={`rounded text-left hover:bg-tint ${className}`}
        title="What to do with this value (f include, F exclude)"
        data-name={name}
        data-value={value}
        onClick={(click) => click.stopPropagation()}
      >
        {children}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={2}
          collisionPadding={8}
          className="z-40 min-w-40 rounded-md border border-line bg-panel p-1 shadow-lg"
        >
          <DropdownMenu.Label className="max-w-80 truncate px-2 py-1 font-mono text-soft text-xs">
            {name} = {value === '' ? "''" : value}
          </DropdownMenu.Label>
          {items.map(([label, act]) => (
            <DropdownMenu.Item
              key={label}
              className="cursor-pointer rounded px-2 py-1 outline-none data-highlighted:bg-tint"
              onSelect={() => void act()}
            >
              {label}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
