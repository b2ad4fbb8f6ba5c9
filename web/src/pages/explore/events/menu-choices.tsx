import { DropdownMenu } from 'radix-ui'

export type MenuChoice = readonly [label: string, act: () => unknown, isEnabled: boolean]

type MenuChoicesProps = { title?: string; choices: readonly MenuChoice[] }

/** What a menu in the list of events offers. A click in it is none on what lies below it. */
export const MenuChoices = ({ title, choices }: MenuChoicesProps) => (
  <DropdownMenu.Portal>
    <DropdownMenu.Content
      align="start"
      sideOffset={2}
      collisionPadding={8}
      className="z-40 min-w-40 rounded-md border border-line bg-panel p-1 shadow-lg"
      onClick={(click) => click.stopPropagation()}
    >
      {title !== undefined && (
        <DropdownMenu.Label className="max-w-80 truncate px-2 py-1 font-mono text-soft text-xs">{title}</DropdownMenu.Label>
      )}
      {choices.map(([label, act, isEnabled]) => (
        <DropdownMenu.Item
          key={label}
          disabled={!isEnabled}
          className="cursor-pointer rounded px-2 py-1 outline-none data-disabled:cursor-default data-disabled:text-soft data-highlighted:bg-tint"
          onSelect={() => void act()}
        >
          {label}
        </DropdownMenu.Item>
      ))}
    </DropdownMenu.Content>
  </DropdownMenu.Portal>
)
