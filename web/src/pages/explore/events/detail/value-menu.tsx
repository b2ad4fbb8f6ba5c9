import { DropdownMenu } from 'radix-ui'
import { type KeyboardEvent, type MouseEvent, type ReactNode, useState } from 'react'
import { copyFromMenu } from '../../../../parts/shell/copied.ts'
import { type MenuChoice, MenuChoices } from '../menu-choices.tsx'
import { canFollow } from './follow.ts'

/** The actions of a value. An empty field name means text anywhere in a line. */
export type ValueActions = {
  include(key: string, value: string): void
  exclude(key: string, value: string): void
  only(key: string, value: string): void
  /** includeAny and excludeAny take several values of a field. */
  includeAny(key: string, values: readonly string[]): void
  excludeAny(key: string, values: readonly string[]): void
  /** addClauses adds conditions that hold together. */
  addClauses(clauses: readonly string[]): void
  removeClause(clause: string): void
  addColumn(key: string): void
  groupBy(key: string): void
  /** Searches the value in all datasets, around a time if one is known. */
  follow(value: string, atMs: number | undefined): void
}

type ValueMenuProps = {
  name: string
  value: string
  actions: ValueActions
  children: ReactNode
  className?: string
  /** The time of the event with the value. */
  atMs?: number | undefined
}

/** A value with its menu of actions. The menu is mounted on first use: a list of events holds thousands of values. */
export function ValueMenu({ name, value, actions, children, atMs, className = '' }: ValueMenuProps) {
  const [isOpened, setOpened] = useState(false)
  const trigger = (
    <button
      type="button"
      className={`rounded text-left hover:bg-tint ${className}`}
      title={TITLE}
      data-name={name}
      data-value={value}
      aria-haspopup="menu"
      onClick={(click) => {
        click.stopPropagation()
        setOpened(true)
      }}
    >
      {children}
    </button>
  )
  return isOpened ? <OpenMenu {...{ name, value, actions, atMs }}>{trigger}</OpenMenu> : trigger
}

/** A value within a line. The line stays selectable text; keyboard users reach the value in the event details. */
export function ValueInText({ name, value, actions, children, atMs }: ValueMenuProps) {
  const [isOpened, setOpened] = useState(false)
  const openMenu = (event: MouseEvent | KeyboardEvent) => {
    if (getSelection()?.toString()) return
    event.stopPropagation()
    setOpened(true)
  }
  const trigger = (
    // biome-ignore lint/a11y/useSemanticElements: text inside a button cannot be selected
    <span
      role="button"
      tabIndex={-1}
      className="cursor-pointer rounded-sm hover:bg-tint hover:outline hover:outline-line"
      title={TITLE}
      data-name={name}
      data-value={value}
      aria-haspopup="menu"
      onClick={openMenu}
      onKeyDown={(event) => event.key === 'Enter' && openMenu(event)}
    >
      {children}
    </span>
  )
  return isOpened ? <OpenMenu {...{ name, value, actions, atMs }}>{trigger}</OpenMenu> : trigger
}

const TITLE = 'Actions for this value (f include, F exclude)'

type OpenMenuProps = Pick<ValueMenuProps, 'name' | 'value' | 'actions' | 'atMs' | 'children'>

function OpenMenu({ name, value, actions, atMs, children }: OpenMenuProps) {
  const hasField = name !== ''
  const choices: MenuChoice[] = [
    ['Include', () => actions.include(name, value), true],
    ['Exclude', () => actions.exclude(name, value), true],
    ['Only this', () => actions.only(name, value), true],
    ['Follow in all datasets', () => actions.follow(value, atMs), canFollow(name, value)],
    ['Add as column', () => actions.addColumn(name), hasField],
    ['Group by this field', () => actions.groupBy(name), hasField],
    ['Copy value', () => copyFromMenu(value), true],
    ['Copy field name', () => copyFromMenu(name), hasField],
    ['Copy as JSON', () => copyFromMenu(JSON.stringify({ [name]: value })), hasField],
  ]
  const possible = choices.filter(([, , isPossible]) => isPossible)
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <MenuChoices title={hasField ? `${name} = ${value === '' ? "''" : value}` : value} choices={possible} />
    </DropdownMenu.Root>
  )
}
