import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'

type ModalProps = { className: string; onClose(): void; children: ReactNode }

/** A dialog that traps the focus; its children start with a Dialog.Title, and `className` positions it. */
export const Modal = ({ className, onClose, children }: ModalProps) => (
  <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
    <Dialog.Portal>
      <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
      <Dialog.Content aria-describedby={undefined} className={`fixed border-line shadow-xl ${className}`}>
        {children}
      </Dialog.Content>
    </Dialog.Portal>
  </Dialog.Root>
)
