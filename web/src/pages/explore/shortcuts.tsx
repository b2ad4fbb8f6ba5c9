import { Dialog } from 'radix-ui'
import { Button } from '../../ui/button.tsx'
import { Modal } from '../../ui/modal.tsx'

const shortcuts = [
  ['/', 'Go to the query'],
  ['Tab', 'Take a completion'],
  ['Enter', 'Run the query; open the row'],
  ['Alt Enter', 'Mend what is marked in the query'],
  ['Shift Enter', 'A new line in the query'],
  ['Esc', 'Close the row'],
  ['j  k', 'Next row, row before'],
  ['x', 'Open or close the row'],
  ['f  F', 'Include, exclude the value under the focus or the pointer'],
  ['c', 'What was before and after the row'],
  ['p', 'Pin the row to the tray, or take it off'],
  ['m', 'Measure the times of all rows from this one, or no longer'],
  ['Ctrl F', 'In the list: find in the loaded rows'],
  ['n  N', 'While finding: the next one, the one before'],
  ['t', 'Time range'],
  ['l', 'Live'],
  ['r', 'Ask again'],
  ['Ctrl K', 'Everything that can be done, by its name'],
  ['?', 'This list'],
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
