import { useState, useSyncExternalStore } from 'react'
import { CopyRefused, type CopySource, copyText } from './copy.ts'

/** What was copied last, which the clipboard holds as far as the app knows; or the text that could not be copied. */
type Copied = {
  by?: symbol
  /** Identifies what was copied, which may have changed since. */
  content?: string
  /** isNoted is said at the edge of the window, for what was chosen from a menu that has closed. */
  isNoted?: boolean
  refused?: { text: string; onCopied(): void }
}

let current: Copied = {}
const listeners = new Set<() => void>()

function set(next: Copied): void {
  current = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useCopied = (): Copied => useSyncExternalStore(subscribe, () => current)

export const closeRefused = (): void => set({})

async function copyAs(of: Copied, source: CopySource): Promise<void> {
  try {
    await copyText(typeof source === 'function' ? source() : source)
    set(of)
  } catch (thrown) {
    if (!(thrown instanceof CopyRefused)) throw thrown
    set({ refused: { text: thrown.text, onCopied: () => set(of) } })
  }
}

const MENU = Symbol('menu')

/** Copies what was chosen from a menu, and says so. */
export const copyFromMenu = (text: string): void => void copyAs({ by: MENU, isNoted: true }, text)

/** The next thing that is done makes the note old. */
export const closeNote = (): void => {
  if (current.isNoted) set({ ...current, isNoted: false })
}

type Attempt = { content: string; failure?: unknown }

/** A Copying is a way to copy: `copied` until something else is copied or the content changes, `failed` until it is tried again. */
export type Copying = { state: 'ready' | 'working' | 'copied' | 'failed'; failure?: unknown; copy(source: CopySource): void }

/** useCopying copies what `content` identifies. */
export function useCopying(content: string): Copying {
  const [by] = useState(() => Symbol('copying'))
  const copied = useCopied()
  const [attempt, setAttempt] = useState<Attempt>()
  const [isWorking, setWorking] = useState(false)
  const copy = (source: CopySource) => {
    if (isWorking) return
    setWorking(true)
    setAttempt(undefined)
    // Begun here, within the click.
    copyAs({ by, content }, source)
      .catch((failure: unknown) => setAttempt({ content, failure }))
      .finally(() => setWorking(false))
  }
  if (isWorking) return { state: 'working', copy }
  if (attempt?.content === content) return { state: 'failed', failure: attempt.failure, copy }
  return { state: copied.by === by && copied.content === content ? 'copied' : 'ready', copy }
}
