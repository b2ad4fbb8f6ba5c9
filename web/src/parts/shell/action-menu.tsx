import { Link, type LinkProps } from '@tanstack/react-router'
import { ArrowLeft, Ellipsis, type LucideIcon } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { Popover } from '../../ui/popover.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

/** A MenuAction opens a panel within the menu, runs and closes the menu, or is a link. */
export type MenuAction = { name: string; note?: string; icon: LucideIcon; isDestructive?: true } & (
  | { panel(close: () => void): ReactNode }
  | { run(): unknown }
  | { link: Pick<LinkProps, 'to' | 'search'> }
)

type ActionMenuProps = { actions: readonly MenuAction[]; title?: string; className?: string }

const item = 'flex w-full items-start gap-2.5 rounded px-2 py-1.5 text-left hover:bg-tint'

/** The one menu of a page for its less frequent actions. It is not shown without actions. */
export function ActionMenu({ actions, title, className = '' }: ActionMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const [opened, setOpened] = useState<string>()
  const close = () => setOpen(false)
  const shown = actions.find(({ name }) => name === opened)
  if (actions.length === 0) return null
  return (
    <Popover
      label={shown?.name ?? 'Actions'}
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next)
        setOpened(undefined)
      }}
      trigger={
        <Button title={title} aria-label="Actions" className={className}>
          <Icon of={Ellipsis} />
          <span className="max-xl:hidden">Actions</span>
        </Button>
      }
    >
      {shown && 'panel' in shown ? (
        <>
          <p className="mb-2 flex items-center gap-1 font-medium">
            <IconButton icon={ArrowLeft} label="Back to all actions" onClick={() => setOpened(undefined)} />
            {shown.name}
          </p>
          <Suspense fallback={<Skeleton className="w-72 max-w-full" />}>{shown.panel(close)}</Suspense>
        </>
      ) : (
        <ul className="flex w-72 max-w-full flex-col">
          {actions.map((action) => (
            <li key={action.name}>
              {'link' in action ? (
                <Link {...action.link} className={item} onClick={close}>
                  <Entry action={action} />
                </Link>
              ) : (
                <button
                  type="button"
                  className={item}
                  onClick={() => {
                    if ('panel' in action) return setOpened(action.name)
                    close()
                    action.run()
                  }}
                >
                  <Entry action={action} />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Popover>
  )
}

const Entry = ({ action: { name, note, icon, isDestructive } }: { action: MenuAction }) => (
  <>
    <Icon of={icon} className={`mt-0.5 ${isDestructive ? 'text-error' : 'text-soft'}`} />
    <span className={`min-w-0 ${isDestructive ? 'text-error' : ''}`}>
      <span className="block">{name}</span>
      {note && <span className="block text-soft text-xs">{note}</span>}
    </span>
  </>
)
