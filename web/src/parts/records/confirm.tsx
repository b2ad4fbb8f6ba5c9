import type { Permission } from '@dendro/api'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Popover } from '../../ui/popover.tsx'
import { FailureNote } from '../shell/failure.tsx'
import { useMay } from '../shell/permitted.tsx'

type ConfirmPanelProps = { action: string; message: string; onYes(): Promise<unknown>; onEnd(): void }

type ConfirmProps = Omit<ConfirmPanelProps, 'onEnd'> & {
  size?: 'normal' | 'small'
  label?: string
  /** The permission without which the action is not shown. */
  needs?: Permission
}

/** Asks for confirmation in a popover before a destructive action. */
export function Confirm({ action, message, onYes, size = 'normal', label, needs }: ConfirmProps) {
  const may = useMay()
  const [isOpen, setOpen] = useState(false)
  if (needs && !may(needs)) return null
  return (
    <Popover
      label={message}
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size={size} aria-label={label}>
          {action}
        </Button>
      }
    >
      <ConfirmPanel action={action} message={message} onYes={onYes} onEnd={() => setOpen(false)} />
    </Popover>
  )
}

/** The question of Confirm, also for a menu. */
export function ConfirmPanel({ action, message, onYes, onEnd }: ConfirmPanelProps) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const act = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await onYes()
      onEnd()
    } catch (thrown) {
      setFailure(thrown)
    }
    setBusy(false)
  }
  return (
    <div className="flex w-64 max-w-full flex-col gap-2">
      <p>{message}</p>
      {failure !== undefined && <FailureNote thrown={failure} />}
      <div className="flex gap-2">
        <Button variant="main" disabled={isBusy} onClick={act}>
          {isBusy ? 'Working…' : action}
        </Button>
        <Button onClick={onEnd}>Cancel</Button>
      </div>
    </div>
  )
}
