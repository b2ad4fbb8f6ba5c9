import { CircleSlash2, Eye, EyeOff, X } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { Field } from '../../../parts/query/fields.ts'
import { type QueryFocus, QueryInput } from '../../../parts/query/query-input.tsx'
import { readWhere } from '../../../parts/query/query-readers.ts'
import { Icon } from '../../../ui/icon.tsx'

type ConditionChipProps = {
  clause: string
  /** The clause for people. */
  label: string
  fields: readonly Field[]
  isOn: boolean
  onEdit(by: string): void
  onNegate(): void
  onToggle(): void
  onRemove(): void
}

/** One condition of a query; it can be edited in place, negated, disabled and removed. */
export function ConditionChip({ clause, label, fields, isOn, onEdit, onNegate, onToggle, onRemove }: ConditionChipProps) {
  const [isEditing, setEditing] = useState(false)
  const save = (text: string) => {
    setEditing(false)
    if (text.trim() !== '' && text.trim() !== clause) onEdit(text.trim())
  }
  const buttonStyle = 'px-1 text-soft hover:text-ink'
  const style = isOn ? 'bg-tint' : `border-dashed text-soft ${isEditing ? '' : 'line-through'}`
  return (
    <li className={`flex h-5.5 min-w-0 max-w-full items-center rounded max-sm:h-5 border border-line font-mono text-xs ${style}`}>
      {isEditing ? (
        <ConditionEditor clause={clause} fields={fields} onEnd={save} onCancel={() => setEditing(false)} />
      ) : (
        <button type="button" className="truncate px-1.5" title={`${label} (edit)`} onClick={() => setEditing(true)}>
          {label}
        </button>
      )}
      <button type="button" className={buttonStyle} onClick={onNegate} title="Negate" aria-label={`Negate ${label}`}>
        <Icon of={CircleSlash2} size="small" />
      </button>
      <button
        type="button"
        className={buttonStyle}
        onClick={onToggle}
        title={isOn ? 'Disable' : 'Enable'}
        aria-label={`${isOn ? 'Disable' : 'Enable'} ${label}`}
      >
        <Icon of={isOn ? Eye : EyeOff} size="small" />
      </button>
      <button type="button" className={buttonStyle} onClick={onRemove} title="Remove" aria-label={`Remove ${label}`}>
        <Icon of={X} size="small" />
      </button>
    </li>
  )
}

type ConditionEditorProps = { clause: string; fields: readonly Field[]; onEnd(text: string): void; onCancel(): void }

const CHARS_MIN = 24
const CHARS_MAX = 64

/** Edits a condition in the query language. Enter and losing the focus save it. */
function ConditionEditor({ clause, fields, onEnd, onCancel }: ConditionEditorProps) {
  const [draft, setDraft] = useState(clause)
  const line = useRef<QueryFocus>(null)
  // Removing the editor fires blur once more.
  const isFinished = useRef(false)
  useEffect(() => line.current?.focus(), [])
  const end = (action: () => void) => {
    if (!isFinished.current) action()
    isFinished.current = true
  }
  const onKey = (event: KeyboardEvent) => {
    // Escape closes the completion list first; the editor has handled that key.
    if (event.key === 'Escape' && !event.defaultPrevented) end(onCancel)
  }
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) end(() => onEnd(draft))
  }
  const chars = Math.min(CHARS_MAX, Math.max(CHARS_MIN, draft.length + 4))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles keys that bubble from the editor
    <div className="flex max-w-full" style={{ width: `${chars}ch` }} onKeyDown={onKey} onBlur={onBlur}>
      <QueryInput
        ref={line}
        label="Edit the condition"
        text={draft}
        known={{ read: readWhere, fields }}
        onText={setDraft}
        onRun={(text) => end(() => onEnd(text))}
      />
    </div>
  )
}
