import { toText } from '@dendro/api'
import type { Paint } from '../colors.ts'
import { quantity } from '../cost.ts'
import { escapeJson } from '../escape.ts'
import { pathText } from './differences.ts'
import { SECRET } from './kind.ts'
import type { Change, Plan } from './plan.ts'

const marks = { create: ['+', 'green'], change: ['~', 'yellow'], delete: ['-', 'red'] } as const

/** The changes with their fields, before and after. */
export function planLines({ changes }: Pick<Plan, 'changes'>, paint: Paint): string[] {
  return changes.flatMap(({ action, kind, name, differences }) => {
    const [mark, color] = marks[action]
    const fields = differences.map(({ path, before, after }) => {
      const field = `    ${pathText(path)}: `
      if (action === 'create') return field + valueText(after)
      if (before === SECRET && after === SECRET) return `${field}${SECRET} (written again)`
      return `${field}${valueText(before)} → ${valueText(after)}`
    })
    const note = action === 'delete' && kind.removedWith !== undefined ? ` (with ${kind.removedWith})` : ''
    return [paint(color, `${mark} ${kind.name} ${oneLine(name)}${note}`), ...fields]
  })
}

export function planSummary({ changes, unchanged }: Plan): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length
  return `${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete, ${unchanged} unchanged`
}

export const changeCount = (changes: readonly Change[]): string => quantity(changes.length, 'change')

/** The plan for programs. */
export const planRows = ({ changes }: Pick<Plan, 'changes'>): object[] =>
  changes.map(({ action, kind, name, differences }) => ({
    action,
    kind: kind.name,
    name,
    fields: differences.map(({ path, before, after }) => ({
      field: pathText(path),
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    })),
  }))

const PLAIN = /^[\w ./:@%+*-]+$/

function valueText(value: unknown): string {
  if (value === undefined) return '(absent)'
  if (typeof value === 'string' && (PLAIN.test(value) || value === SECRET)) return value
  return oneLine(toText(value))
}

const oneLine = (text: string): string => escapeJson(text.replaceAll('\n', '\\n'))
