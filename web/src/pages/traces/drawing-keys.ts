import type { KeyboardEvent } from 'react'
import type { DrawingProps } from './drawing-props.ts'
import { partAround } from './shown-part.ts'

type DrawingKeys = Pick<DrawingProps, 'trace' | 'current' | 'onSelect' | 'onShow'> & {
  /** Does what a key does in this drawing alone, and returns whether it knows the key. */
  onOwnKey(key: string): boolean
}

/** The keys of every drawing: z zooms to the selected span, Z out, Escape selects none. */
export function drawingKeys({ trace, current, onSelect, onShow, onOwnKey }: DrawingKeys) {
  return (pressed: KeyboardEvent): void => {
    const span = trace.spans[current]
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return
    if (pressed.key === 'z' && span) onShow(partAround(span, trace.duration_nano))
    else if (pressed.key === 'Z') onShow(undefined)
    else if (pressed.key === 'Escape') onSelect(undefined)
    else if (!onOwnKey(pressed.key)) return
    pressed.preventDefault()
  }
}
