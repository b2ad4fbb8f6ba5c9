import { DropdownMenu } from 'radix-ui'
import { type CSSProperties, type PointerEvent, useRef, useState } from 'react'
import { Caret } from '../../../../ui/caret.tsx'
import { type MenuChoice, MenuChoices } from '../menu-choices.tsx'
import { type Columns, widthIn } from './columns.ts'
import type { RowStyle } from './row-style.ts'

const STEP_PX = 16
const DEFAULT_PX = 160

/** Lets the user reorder columns by dragging a header and resize them by dragging its edge. The menu of a header does the same by keyboard. */
export function ColumnHeaders({ columns, rowStyle }: { columns: Columns; rowStyle: RowStyle }) {
  const { hasGaps, hasDataset } = rowStyle
  const [dropTarget, setDropTarget] = useState<string>()
  const dragged = useRef<string>(undefined)
  const drop = (to: string) => {
    if (dragged.current !== undefined && dragged.current !== to) columns.move(dragged.current, to)
    dragged.current = undefined
    setDropTarget(undefined)
  }
  return (
    <fieldset
      aria-label="Columns"
      className="sticky top-0 z-10 flex items-center gap-2 border-line border-b bg-panel px-2 py-0.5 pl-[calc(0.5rem+3px)] font-mono text-soft text-xs"
    >
      <span className="w-4 shrink-0" />
      <span className="w-[12ch] shrink-0">time</span>
      {hasGaps && <span className="w-[8ch] shrink-0 text-right">gap</span>}
      {hasDataset && <span className="w-28 shrink-0 max-lg:hidden">dataset</span>}
      {columns.names.map((name, at) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the menu offers the same by keyboard
        <span
          key={name}
          data-column={name}
          draggable
          className={`relative flex min-w-0 items-center ${dropTarget === name ? 'bg-tint' : ''}`}
          style={cellStyle(name, rowStyle)}
          onDragStart={() => {
            dragged.current = name
          }}
          onDragOver={(event) => {
            event.preventDefault()
            setDropTarget(name)
          }}
          onDrop={() => drop(name)}
          onDragEnd={() => setDropTarget(undefined)}
        >
          <ColumnMenu
            name={name}
            columns={columns}
            px={columnPx(name, rowStyle)}
            before={columns.names[at - 1]}
            after={columns.names[at + 1]}
          />
          <ColumnResizer name={name} columns={columns} px={columnPx(name, rowStyle)} />
        </span>
      ))}
      {hasMessage(rowStyle) && <span className={MESSAGE_CLASS}>message</span>}
    </fieldset>
  )
}

/** The width of a column, chosen by the user or by its content, and its alignment. */
export const cellStyle = (name: string, { widths, formats }: Pick<RowStyle, 'widths' | 'formats'>): CSSProperties => ({
  flex: `0 0 ${columnPx(name, { widths, formats })}px`,
  ...(formats.get(name)?.isNumeric ? { textAlign: 'right' } : {}),
})

export const columnPx = (name: string, { widths, formats }: Pick<RowStyle, 'widths' | 'formats'>): number =>
  widthIn(widths, name) ?? formats.get(name)?.px ?? DEFAULT_PX

/** False when the user has chosen the message as a column; otherwise the whole line stretches after the columns. */
export const hasMessage = ({ columns }: Pick<RowStyle, 'columns'>): boolean => !columns.includes('message')

/** Keeps some width for the message, however many columns there are. */
export const MESSAGE_CLASS = 'min-w-60 flex-1'

type ColumnMenuProps = { name: string; columns: Columns; px: number; before: string | undefined; after: string | undefined }

function ColumnMenu({ name, columns, px, before, after }: ColumnMenuProps) {
  const choices: MenuChoice[] = [
    ['Move left', () => before !== undefined && columns.move(name, before), before !== undefined],
    ['Move right', () => after !== undefined && columns.move(name, after), after !== undefined],
    ['Wider', () => columns.resize(name, px * 1.5), true],
    ['Narrower', () => columns.resize(name, px / 1.5), true],
    ['Remove', () => columns.remove(name), true],
    ['Reset columns', () => columns.reset(), true],
  ]
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        className="min-w-0 flex-1 truncate rounded [text-align:inherit] hover:bg-tint hover:text-ink"
        title={`${name}: drag to move`}
      >
        {name} <Caret />
      </DropdownMenu.Trigger>
      <MenuChoices choices={choices} />
    </DropdownMenu.Root>
  )
}

function ColumnResizer({ name, columns, px }: { name: string; columns: Columns; px: number }) {
  const start = useRef<{ x: number; px: number }>(undefined)
  const widthOf = (event: { currentTarget: HTMLElement }) => event.currentTarget.parentElement?.getBoundingClientRect().width ?? DEFAULT_PX
  const onMove = (event: PointerEvent<HTMLElement>) => {
    if (start.current) columns.resize(name, start.current.px + event.clientX - start.current.x)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: <hr> cannot be dragged
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${name}`}
      aria-valuenow={px}
      tabIndex={0}
      className="absolute top-0 -right-2 z-10 h-full w-3 cursor-col-resize touch-none border-line border-r hover:border-accent"
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        start.current = { x: event.clientX, px: widthOf(event) }
      }}
      onPointerMove={onMove}
      onPointerUp={() => {
        start.current = undefined
      }}
      onKeyDown={(event) => {
        const by = event.key === 'ArrowLeft' ? -STEP_PX : event.key === 'ArrowRight' ? STEP_PX : undefined
        if (by === undefined) return
        event.preventDefault()
        columns.resize(name, widthOf(event) + by)
      }}
    />
  )
}
