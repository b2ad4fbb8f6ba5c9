import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { quantity } from '../../../../parts/chart/numbers.ts'
import { Icon } from '../../../../ui/icon.tsx'
import { HighlightedText } from '../find/highlighted-text.tsx'
import { type Highlights, plainLine, prettyJson } from '../find/line-text.ts'
import { BranchMenu } from './branch-menu.tsx'
import type { FieldBranch, FieldLeaf, FieldNode } from './field-node.ts'
import { type ValueActions, ValueMenu } from './value-menu.tsx'

type FieldRowsProps = { nodes: readonly FieldNode[]; depth: number; highlights: Highlights; actions: ValueActions; atMs: number }

const INDENT_PX = 14

/** The rows of fields and of the branches above them, each with a filter. */
export function FieldRows({ nodes, ...rest }: FieldRowsProps) {
  return nodes.map((node) =>
    node.kind === 'leaf' ? (
      <FieldRow key={`= ${node.path}`} leaf={node} {...rest} />
    ) : (
      <FieldGroupRows key={node.path} branch={node} {...rest} />
    ),
  )
}

type NodeProps = Omit<FieldRowsProps, 'nodes'>

/** Branches with more fields are closed at first. */
const OPEN_LEAVES_MAX = 30

/** The fields with a common prefix under that prefix, or the elements of an array. */
function FieldGroupRows({ branch, depth, ...rest }: NodeProps & { branch: FieldBranch }) {
  const [isOpen, setOpen] = useState(!branch.isArray || branch.leaves <= OPEN_LEAVES_MAX)
  return (
    <>
      <tr className="group/branch">
        <th scope="rowgroup" colSpan={2} className="py-0.5 text-left font-mono font-normal" style={{ paddingLeft: depth * INDENT_PX }}>
          <button type="button" aria-expanded={isOpen} className="rounded pr-1 hover:bg-tint" onClick={() => setOpen(!isOpen)}>
            <Icon of={ChevronRight} size="small" className={`inline-block text-soft transition-transform ${isOpen ? 'rotate-90' : ''}`} />
            {branch.name} <span className="font-sans text-soft">{sizeOf(branch)}</span>
          </button>
          <BranchMenu branch={branch} actions={rest.actions} />
        </th>
      </tr>
      {isOpen && <FieldRows nodes={branch.inner} depth={depth + 1} {...rest} />}
    </>
  )
}

const sizeOf = ({ isArray, inner, leaves }: FieldBranch): string =>
  isArray ? quantity(inner.length, 'element') : quantity(leaves, 'field')

function FieldRow({ leaf: { name, path, value, isReachable }, depth, highlights, actions, atMs }: NodeProps & { leaf: FieldLeaf }) {
  return (
    <tr className="align-top">
      <th
        scope="row"
        className="truncate py-0.5 pr-3 text-left font-mono font-normal text-soft"
        style={{ paddingLeft: depth * INDENT_PX + (depth > 0 ? 12 : 0) }}
        title={path}
        aria-label={path}
      >
        {name}
      </th>
      <td className="py-0.5">
        {isReachable !== false ? (
          <ValueMenu
            name={path}
            value={value}
            actions={actions}
            atMs={atMs}
            className="max-h-40 max-w-full wrap-anywhere overflow-auto whitespace-pre-wrap font-mono"
          >
            {value === '' ? (
              <span className="text-soft">(empty)</span>
            ) : (
              <HighlightedText text={plainLine(prettyJson(value) ?? value)} highlights={highlights} onlyMatches />
            )}
          </ValueMenu>
        ) : (
          <span className="wrap-anywhere font-mono text-soft" title="No condition can name this value">
            {plainLine(value)}
          </span>
        )}
      </td>
    </tr>
  )
}
