import { Dialog } from 'radix-ui'
import { type ReactNode, useState } from 'react'

type ModalProps = { className: string; onClose(): void; children: ReactNode }

/**
 * A dialog that traps the focus and returns it to where it was, since a dialog without a trigger would drop it; its children start with a
 * Dialog.Title, and `className` positions it.
 */
export function Modal({ className, onClose, children }: ModalProps) {
  const [opener] = useState(() => document.activeElement)
  const returnFocus = (event: Event) => {
    if (!(opener instanceof HTMLElement && opener.isConnected)) return
    event.preventDefault()
    opener.focus({ preventScroll: true })
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Content aria-describedby={undefined} onCloseAutoFocus={returnFocus} className={`fixed border-line shadow-xl ${className}`}>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
