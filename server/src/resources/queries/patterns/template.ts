import { templateOf, WILDCARD } from '../../../patterns/pattern.ts'
import { hashToBigint, skeletonHash, skeletonText } from '../../../patterns/skeleton.ts'

/** Whether the template of a pattern is the same for each of its events. That of an object without a message also shows what lies in its values. */
export const isOfText = (id: string, message: string | undefined, line: string): boolean => message !== undefined || idOf(line) === id

/** Formats the pattern of an event by its message, or by its line without a message; an object without a message is shown by its keys. */
export function templateFor(id: string, message: string | undefined, line: string): string {
  if (isOfText(id, message, line)) return templateOf(skeletonText(message ?? line))
  try {
    return emptied(JSON.parse(line))
  } catch {
    return templateOf(skeletonText(line))
  }
}

const idOf = (text: string): string => hashToBigint(skeletonHash(text)).toString(16).padStart(16, '0')

function emptied(value: unknown): string {
  if (typeof value !== 'object' || value === null) return WILDCARD
  if (Array.isArray(value)) return `[${value.map(emptied).join(',')}]`
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}:${emptied(inner)}`)
    .join(',')}}`
}
