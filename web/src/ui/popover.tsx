import { Popover as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

type PopoverProps = {
  trigger: ReactNode
  children: ReactNode
  label: string
  open?: boolean
  onOpenChange?: (open: boolean) => void
}

/** Opens next to its trigger button. */
export function Popover({ trigger, children, label, ...state }: PopoverProps) {
  return (
    <Radix.Root {...state}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align="start"
          sideOffset={4}
          collisionPadding={8}
          // Closing does not take the focus from another control.
          onCloseAutoFocus={(event) => document.activeElement !== document.body && event.preventDefault()}
          className="opens-below z-40 max-h-(--radix-popover-content-available-height) max-w-[calc(100vw-1rem)] overflow-auto rounded-md border border-line bg-panel p-2 shadow-lg"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
