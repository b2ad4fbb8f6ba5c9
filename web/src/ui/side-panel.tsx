import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Modal } from './modal.tsx'

type SidePanelProps = { title: string; actions: ReactNode; onClose(): void; children: ReactNode }

/** A titled, scrolling dialog over the right side of the page. */
export const SidePanel = ({ title, actions, onClose, children }: SidePanelProps) => (
  <Modal onClose={onClose} className="opens-right inset-y-0 right-0 z-40 flex w-full max-w-6xl flex-col border-l bg-ground">
    <header className="flex flex-wrap items-center gap-2 border-line border-b bg-panel px-3 py-2">
      <Dialog.Title className="mr-auto font-semibold">{title}</Dialog.Title>
      {actions}
      <Dialog.Close asChild>
        <Button>Close</Button>
      </Dialog.Close>
    </header>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs keyboard focus */}
    <div tabIndex={0} className="min-h-0 flex-1 overflow-auto">
      {children}
    </div>
  </Modal>
)
