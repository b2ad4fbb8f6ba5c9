/** Html is markup; any other value in a template is escaped. */
export type Html = { readonly markup: string }

type Part = Html | string | number | undefined | false | readonly Html[]

/** html renders a template: texts are escaped, lists are joined, undefined and false are empty. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const pieces = strings.map((piece, index) => piece + markupOf(parts[index]))
  return { markup: pieces.join('') }
}

/** prose renders a sentence of the contract, with backticks as code. */
export function prose(sentence: string): Html {
  const pieces = sentence.split('`').map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))
  return html`${pieces}`
}

function markupOf(part: Part): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  if ('markup' in part) return part.markup
  return part.map((inner) => inner.markup).join('')
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }),
)
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (initial) => ESCAPES.get(initial) ?? initial)
