import { toText } from '@dendro/api'
import type { Paint } from '../colors.ts'
import { quantity } from '../cost.ts'
import { escapeJson } from '../escape.ts'
import { pathText } from './differences.ts'
import { SECRET } from './kind.ts'
import type { Change, Plan } from './plan.ts'

const marks = { create: ['+', 'green'], change: ['~', 'yellow'], order: ['~', 'yellow'], delete: ['-', 'red'] } as const

/** The changes with their fields, before and after. */
export function planLines({ changes }: Pick<Plan, 'changes'>, paint: Paint): string[] {
  return changes.flatMap(({ action, kind, name, differences }) => {
    const [mark, color] = marks[action]
    const fields = differences.map(({ path, before, after }) => {
      const field = `    ${pathText(path)}: `
      if (action === 'create') return field + valueText(after)
      if (before === SECRET && after === SECRET) return `${field}${SECRET} (written again)`
      const place = firstDifference(before, after)
      return `${field}${valueText(before, place)} → ${valueText(after, place)}`
    })
    const note = action === 'delete' && kind.removedWith !== undefined ? ` (with ${kind.removedWith})` : ''
    return [paint(color, `${mark} ${kind.name} ${oneLine(name)}${note}`), ...fields]
  })
}

export function planSummary({ changes, unchanged }: Plan): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length
  return `${count('create')} to create, ${count('change') + count('order')} to change, ${count('delete')} to delete, ${unchanged} unchanged`
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

const TEXT_SHOWN_MAX = 400
const BEFORE_DIFFERENCE = 40

/** Where two long texts, such as metadata, begin to differ. */
function firstDifference(before: unknown, after: unknown): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 0
  let at = 0
  while (at < before.length && before[at] === after[at]) at += 1
  return at
}

/** A long text is cut around a place in it. */
function shortened(text: string, place: number): string {
  if (text.length <= TEXT_SHOWN_MAX) return text
  const from = Math.max(0, Math.min(place, text.length) - BEFORE_DIFFERENCE)
  return `${from > 0 ? '…' : ''}${text.slice(from, from + TEXT_SHOWN_MAX)}… (${text.length} characters)`
}

function valueText(given: unknown, place = 0): string {
  if (given === undefined) return '(absent)'
  const value = typeof given === 'string' ? shortened(given, place) : given
  if (typeof value === 'string' && (PLAIN.test(value) || value === SECRET)) return value
  return oneLine(toText(value))
}

const oneLine = (text: string): string => escapeJson(text.replaceAll('\n', '\\n'))
