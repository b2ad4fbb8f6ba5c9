import { Dialog } from 'radix-ui'
import { Button } from '../../ui/button.tsx'
import { Modal } from '../../ui/modal.tsx'

const shortcuts = [
  ['/', 'Edit the query'],
  ['Tab', 'Accept a completion'],
  ['Enter', 'Run the query; open the row'],
  ['Alt Enter', 'Fix the marked error in the query'],
  ['Shift Enter', 'New line in the query'],
  ['Esc', 'Close the row'],
  ['j  k', 'Next, previous row'],
  ['x', 'Open or close the row'],
  ['f  F', 'Include, exclude the focused value or the one under the pointer'],
  ['c', 'Show the events before and after the row'],
  ['p', 'Pin or unpin the row'],
  ['m', 'Measure times from this row, or stop'],
  ['Ctrl F', 'In the list: find in loaded rows'],
  ['n  N', 'While finding: next, previous match'],
  ['t', 'Time range'],
  ['l', 'Start or stop live'],
  ['L', 'While live: pause, continue'],
  ['u', 'Undo the last change of the query or view'],
  ['r', 'Refresh'],
  ['Ctrl K', 'All commands'],
  ['?', 'Keyboard shortcuts'],
] as const

export function Shortcuts({ onClose }: { onClose(): void }) {
  return (
    <Modal
      onClose={onClose}
      className="top-1/2 left-1/2 z-40 w-96 max-w-[90vw] -translate-x-1/2 -translate-y-1/2 rounded-lg border bg-panel p-4"
    >
      <Dialog.Title className="mb-2 font-semibold">Keyboard shortcuts</Dialog.Title>
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1">
        {shortcuts.map(([key, action]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-ground px-1.5 font-mono text-xs">{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
      <Dialog.Close asChild>
        <Button className="mt-3">Close</Button>
      </Dialog.Close>
    </Modal>
  )
}
