import { ListFilter } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { copyFromMenu } from '../../../../parts/shell/copied.ts'
import { IconButton } from '../../../../ui/icon-button.tsx'
import { negate } from '../../query/clauses.ts'
import { type MenuChoice, MenuChoices } from '../menu-choices.tsx'
import { hasBranch, sameValues } from './branch-clauses.ts'
import type { FieldBranch } from './field-node.ts'
import { nestedJson } from './field-tree.ts'
import type { ValueActions } from './value-menu.tsx'

/** Filters by a whole branch of an event: by its values, or by whether events have it. */
export function BranchMenu({ branch, actions }: { branch: FieldBranch; actions: ValueActions }) {
  const { path } = branch
  const values = sameValues(branch)
  const presence = hasBranch(branch)
  const choices: MenuChoice[] = [
    ['Include these values', () => values && actions.addClauses(values), values !== undefined],
    ['Events with this', () => presence && actions.addClauses([presence]), presence !== undefined],
    ['Events without this', () => presence && actions.addClauses([negate(presence)]), presence !== undefined],
    ['Add as column', () => actions.addColumn(path), branch.isField === true],
    ['Copy as JSON', () => copyFromMenu(nestedJson(branch)), true],
  ]
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <IconButton
          icon={ListFilter}
          label={`Filter by ${path}`}
          className="-my-1 ml-1 align-middle opacity-0 focus:opacity-100 group-hover/branch:opacity-100 data-[state=open]:opacity-100 pointer-coarse:opacity-100"
        />
      </DropdownMenu.Trigger>
      <MenuChoices title={path} choices={choices} />
    </DropdownMenu.Root>
  )
}
