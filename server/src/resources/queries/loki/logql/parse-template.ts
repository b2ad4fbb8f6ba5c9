import type { LogqlToken } from './scan.ts'
import { echoed } from './syntax-error.ts'
import type { LogqlTokens } from './tokens.ts'
import type { LineTemplate, TemplatePart, TemplateValue } from './tree.ts'

const ACTION = /\{\{([^{}]*)\}\}/g
const VALUE = /^(?:\.([a-zA-Z_][a-zA-Z0-9_]*)|__line__)$/
/** The function with which Grafana steps from a span to the lines that contain its ids. */
const CONTAINS = /^contains\s+"([^"\\]*)"\s+(\S+)$/

/** Parses a template of text, `{{.label}}`, `{{__line__}}` and `{{contains "text" __line__}}`. Other functions and control structures are refused. */
export function parseTemplate(tokens: LogqlTokens, { text, position }: LogqlToken): LineTemplate {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of text.matchAll(ACTION)) {
    const [whole, action = ''] = match
    if (match.index > end) parts.push({ text: text.slice(end, match.index) })
    const part = actionOf(action.trim())
    if (!part) {
      const known = '{{.label}}, {{__line__}} and {{contains "text" __line__}}'
      throw tokens.error({ position }, `the template action ${echoed(whole)} is not supported; there are ${known}`)
    }
    parts.push(part)
    end = match.index + whole.length
  }
  const rest = text.slice(end)
  if (rest.includes('{{')) throw tokens.error({ position }, 'an action of the template does not end, or contains braces')
  if (rest !== '') parts.push({ text: rest })
  return parts
}

function actionOf(action: string): TemplatePart | undefined {
  const [, contains, value = ''] = CONTAINS.exec(action) ?? []
  if (contains === undefined) return valueIn(action)
  const of = valueIn(value)
  return of && { contains, of }
}

function valueIn(action: string): TemplateValue | undefined {
  const found = VALUE.exec(action)
  return found ? (found[1] === undefined ? { line: true } : { label: found[1] }) : undefined
}
