import { Dialog } from 'radix-ui'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Modal } from '../../ui/modal.tsx'
import { closeNote, closeRefused, useCopied } from './copied.ts'

/** Says what was copied from a menu, and shows a text that the browser did not let the page copy. */
export function CopyNotices() {
  const { isNoted, refused } = useCopied()
  useEffect(() => {
    if (!isNoted) return
    const events = ['pointerdown', 'keydown'] as const
    for (const event of events) addEventListener(event, closeNote, { capture: true })
    return () => {
      for (const event of events) removeEventListener(event, closeNote, { capture: true })
    }
  }, [isNoted])
  return (
    <>
      <div aria-live="polite" className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex justify-center">
        {isNoted && <p className="rounded-md bg-ink px-3 py-1.5 text-ground shadow-lg">Copied</p>}
      </div>
      {refused && <Uncopied {...refused} />}
    </>
  )
}

function Uncopied({ text, onCopied }: { text: string; onCopied(): void }) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [isRefused, setRefused] = useState(false)
  const copy = () => {
    area.current?.focus()
    area.current?.select()
    if (document.execCommand('copy')) onCopied()
    else setRefused(true)
  }
  return (
    <Modal onClose={closeRefused} className="inset-x-4 top-[15%] z-50 mx-auto flex max-w-2xl flex-col gap-3 rounded-md border bg-panel p-4">
      <Dialog.Title className="font-semibold">Copy this text yourself</Dialog.Title>
      <p role={isRefused ? 'alert' : undefined}>
        {isRefused
          ? 'The browser refused again. The text is selected: press Ctrl+C, or Command+C on a Mac.'
          : 'The browser did not allow the page to copy it. Press Copy, or Ctrl+C: the text is selected.'}
      </p>
      <TextArea
        ref={area}
        aria-label="Text to copy"
        readOnly
        rows={10}
        value={text}
        className="font-mono text-xs"
        onFocus={(event) => event.currentTarget.select()}
      />
      <p className="flex gap-2">
        <Button variant="main" onClick={copy}>
          Copy
        </Button>
        <Dialog.Close asChild>
          <Button>Close</Button>
        </Dialog.Close>
      </p>
    </Modal>
  )
}
