import type { ComponentProps, ReactNode } from 'react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { useCopying } from './copied.ts'
import type { CopySource } from './copy.ts'
import { saveFile } from './save-file.ts'

type WorkButtonProps = Pick<ComponentProps<typeof Button>, 'size' | 'variant' | 'title' | 'className'> & {
  /** Follows the label in the name of the button, where several have the same. */
  of?: string
  /** Stands before the label. */
  before?: ReactNode
  children: string
}

type CopyButtonProps = WorkButtonProps & {
  text: CopySource
  /** Identifies what is copied, where the text is not known before. */
  content?: string
}

/** Copies a text. It says while that takes time, that it was done, and why it was not; a text that the browser refuses is shown to be copied by hand. */
export function CopyButton({ text, content, children, ...rest }: CopyButtonProps) {
  const { state, failure, copy } = useCopying(content ?? (typeof text === 'string' ? text : children))
  return (
    <WorkButton {...rest} isWorking={state === 'working'} failure={failure} failed="Not copied" onClick={() => copy(text)}>
      {state === 'copied' ? 'Copied' : children}
    </WorkButton>
  )
}

type SaveButtonProps = WorkButtonProps & { file: string; type: string; text(): Promise<string> }

/** Downloads a text that takes time to be made. */
export function SaveButton({ file, type, text, ...rest }: SaveButtonProps) {
  const [isWorking, setWorking] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const save = async () => {
    setWorking(true)
    setFailure(undefined)
    try {
      saveFile(file, type, await text())
    } catch (thrown) {
      setFailure(thrown)
    }
    setWorking(false)
  }
  return <WorkButton {...rest} isWorking={isWorking} failure={failure} failed="Not saved" onClick={save} />
}

type WorkProps = WorkButtonProps & { isWorking: boolean; failure: unknown; failed: string; onClick(): unknown }

/** It stays enabled while it works: a disabled button loses the focus. */
function WorkButton({ of, before, children, isWorking, failure, failed, onClick, ...rest }: WorkProps) {
  const label = isWorking ? 'Working…' : failure === undefined ? children : 'Try again'
  return (
    <>
      <Button
        {...rest}
        aria-label={of === undefined ? undefined : `${label}: ${of}`}
        aria-disabled={isWorking}
        onClick={() => !isWorking && onClick()}
      >
        {before}
        <span aria-live="polite">{label}</span>
      </Button>
      {failure !== undefined && (
        <span role="alert" className="wrap-anywhere whitespace-normal text-error text-xs">
          {failed}: {failure instanceof Error ? failure.message : String(failure)}
        </span>
      )}
    </>
  )
}
