import { resolveJsonEscapes } from '../lines/reference/walk.ts'

/** Escapes within escapes, such as JSON in a text of JSON, are resolved to this depth. */
export const ESCAPE_DEPTH_MAX = 4

/** Escapes that may hide ordinary characters, and the NUL that the store leaves out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finds them, since the store leaves them out.
const HIDING = /\\[^nrt"\\/]|\x00/
// biome-ignore lint/suspicious/noControlCharactersInRegex: finds them, since the store leaves them out.
const ESCAPES = /[\\\x00]/

/** True when a text has any escapes, or NUL. */
export const hasEscapes = (text: string): boolean => ESCAPES.test(text)

/**
 * A text of which hints say whether rules may act on it. What is written with escapes is found in further forms of the text, which are made once
 * for all rules.
 */
export class SearchedText {
  readonly text: string
  #mayHide: boolean | undefined
  #forms: Forms | undefined
  #plain: readonly SearchedText[] | undefined

  constructor(text: string) {
    this.text = text
  }

  /** True when escapes may hide ordinary characters. */
  get mayHide(): boolean {
    this.#mayHide ??= HIDING.test(this.text)
    return this.#mayHide
  }

  /** The forms of the text; `isDeep` when values may be hidden deeper than these show. */
  get forms(): Forms {
    this.#forms ??= formsOf(this.text)
    return this.#forms
  }

  /** The text with its escapes resolved once, twice and so on. */
  get resolved(): readonly SearchedText[] {
    if (this.#plain) return this.#plain
    const plain: SearchedText[] = []
    let form = this.text
    for (let depth = 0; depth < ESCAPE_DEPTH_MAX && hasEscapes(form); depth += 1) {
      form = resolveEscapes(form)
      plain.push(new SearchedText(form))
    }
    this.#plain = plain
    return plain
  }
}

type Forms = { readonly all: readonly SearchedText[]; readonly isDeep: boolean }

/**
 * The forms of which one contains each value that a reader finds in a text. Values of JSON are decoded, also within others; elsewhere a backslash before a
 * character means the character.
 */
function formsOf(text: string): Forms {
  const forms = new Set<string>()
  let form = text.replaceAll('\0', '')
  let isDeep = false
  // Hints see through usual escapes by themselves.
  for (let depth = 0; HIDING.test(form); depth += 1) {
    forms.add(form.replaceAll('\\', ''))
    const next = resolveJsonEscapes(form).replaceAll('\0', '')
    isDeep = next !== form && depth === ESCAPE_DEPTH_MAX
    if (next === form || isDeep) break
    form = next
    forms.add(form)
  }
  forms.add(form)
  return { all: [...forms].map((one) => new SearchedText(one)), isDeep }
}

const SHORT: ReadonlyMap<string, string> = new Map(Object.entries<string>({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }))

/** Resolves escapes also where JSON has none. */
export const resolveEscapes = (text: string): string =>
  text
    .replaceAll('\0', '')
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, char: string) =>
      hex === undefined ? (SHORT.get(char) ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
    )
