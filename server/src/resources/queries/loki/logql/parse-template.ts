import type { LogqlToken } from './scan.ts'
import { echoed } from './syntax-error.ts'
import type { LogqlTokens } from './tokens.ts'
import type { LineTemplate, TemplatePart } from './tree.ts'

const ACTION = /\{\{([^{}]*)\}\}/g
const LABEL = /^\s*\.([a-zA-Z_][a-zA-Z0-9_]*)\s*$/
const LINE = /^\s*__line__\s*$/

/** Parses a template of text, `{{.label}}` and `{{__line__}}`. Functions and control structures are refused. */
export function parseTemplate(tokens: LogqlTokens, { text, position }: LogqlToken): LineTemplate {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of text.matchAll(ACTION)) {
    const [whole, action = ''] = match
    if (match.index > end) parts.push({ text: text.slice(end, match.index) })
    const label = LABEL.exec(action)?.[1]
    if (label !== undefined) parts.push({ label })
    else if (LINE.test(action)) parts.push({ line: true })
    else throw tokens.error({ position }, `the template action ${echoed(whole)} is not supported; there are {{.label}} and {{__line__}}`)
    end = match.index + whole.length
  }
  const rest = text.slice(end)
  if (rest.includes('{{')) throw tokens.error({ position }, 'an action of the template does not end, or contains braces')
  if (rest !== '') parts.push({ text: rest })
  return parts
}
