import { X } from 'lucide-react'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'

type SelectionToolsProps = { onZoom(): void; onChanges(): void; onClear(): void; className?: string }

/** SelectionTools are what a brushed part of a chart offers. */
export function SelectionTools({ onZoom, onChanges, onClear, className = '' }: SelectionToolsProps) {
  return (
    <span
      role="toolbar"
      aria-label="Selection"
      className={`flex items-center gap-1 rounded-md border border-line bg-panel p-0.5 shadow-md ${className}`}
    >
      <Button size="small" variant="quiet" onClick={onZoom}>
        Zoom
      </Button>
      <Button size="small" variant="main" title="Compare the selection with the time before" onClick={onChanges}>
        What changed?
      </Button>
      <Button size="small" variant="quiet" aria-label="Clear selection" title="Clear selection (Esc)" onClick={onClear}>
        <Icon of={X} size="small" />
      </Button>
    </span>
  )
}
