import { Minus, Plus } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { IconButton } from '../../../../ui/icon-button.tsx'
import type { ValueActions } from './value-menu.tsx'

/** A PointedValue is the value under the pointer or with the focus, and where it is on the screen. */
type PointedValue = { name: string; value: string; left: number; top: number }

const WIDTH_PX = 48
const HEIGHT_PX = 24
/** Lets the pointer cross from the value to its toolbar. */
const LEAVE_MS = 120

/** Includes or excludes the value under the pointer in one click. One toolbar serves all values, so that a list of thousands stays cheap. */
export function ValueToolbar({ actions }: { actions: ValueActions }) {
  const [pointed, setPointed] = useState<PointedValue>()
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (!matchMedia('(hover: hover)').matches) return
    const onOver = ({ target }: Event) => {
      if (!(target instanceof Element)) return
      const isToolbar = target.closest('[data-value-toolbar]') !== null
      const element = target.closest<HTMLElement>('[data-value]')
      if (isToolbar || (element && !element.closest('[data-own-actions]'))) {
        clearTimeout(leaving.current)
        leaving.current = undefined
        if (element) setPointed(pointedAt(element))
      } else leaving.current ??= setTimeout(hide, LEAVE_MS)
    }
    const hide = () => {
      clearTimeout(leaving.current)
      leaving.current = undefined
      setPointed(undefined)
    }
    document.addEventListener('pointerover', onOver)
    document.addEventListener('scroll', hide, true)
    document.addEventListener('keydown', hide)
    return () => {
      hide()
      document.removeEventListener('pointerover', onOver)
      document.removeEventListener('scroll', hide, true)
      document.removeEventListener('keydown', hide)
    }
  }, [])
  if (!pointed) return null
  const { name, value, left, top } = pointed
  const label = name === '' ? value : `${name} = ${value}`
  const act = (action: (name: string, value: string) => void) => () => {
    setPointed(undefined)
    action(name, value)
  }
  return (
    <div
      data-value-toolbar
      role="toolbar"
      aria-label={`Narrow by ${label}`}
      className="fixed z-30 flex rounded border border-line bg-panel shadow-sm"
      style={{ left, top }}
    >
      <IconButton tabIndex={-1} icon={Plus} label="Include this value" title={`Include ${label} (f)`} onClick={act(actions.include)} />
      <IconButton tabIndex={-1} icon={Minus} label="Exclude this value" title={`Exclude ${label} (F)`} onClick={act(actions.exclude)} />
    </div>
  )
}

/** Places the toolbar after the value, within the window. */
function pointedAt(element: HTMLElement): PointedValue {
  const { right, top, height } = element.getBoundingClientRect()
  const { name = '', value = '' } = element.dataset
  return {
    name,
    value,
    left: Math.max(0, Math.min(right + 1, innerWidth - WIDTH_PX - 8)),
    top: Math.max(0, top + Math.min(height, HEIGHT_PX) / 2 - HEIGHT_PX / 2),
  }
}
