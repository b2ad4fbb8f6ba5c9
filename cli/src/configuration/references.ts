import { randomUUID } from 'node:crypto'
import { mapTexts } from './environment.ts'
import type { ConfigFields, ReferenceKind } from './kind.ts'

export type NamedReference = { kind: ReferenceKind; name: string }

/**
 * Stands in for ids while documents are validated, before any request: each name gets a UUID of this run, which is replaced by the name for
 * display and by the id for a request.
 */
export class References {
  readonly #prefix = randomUUID().slice(0, 24)
  readonly #pattern = new RegExp(`${this.#prefix}[0-9a-f]{12}`, 'g')
  readonly #named: NamedReference[] = []
  readonly #placeholders = new Map<string, string>()

  placeholder(kind: ReferenceKind, name: string): string {
    const key = `${kind}\0${name}`
    const known = this.#placeholders.get(key)
    if (known !== undefined) return known
    const placeholder = this.#prefix + this.#named.length.toString(16).padStart(12, '0')
    this.#named.push({ kind, name })
    this.#placeholders.set(key, placeholder)
    return placeholder
  }

  /** Replaces every placeholder by a text. */
  replaced(fields: ConfigFields, textFor: (reference: NamedReference) => string): ConfigFields {
    const replace = (text: string) =>
      text.includes(this.#prefix)
        ? text.replaceAll(this.#pattern, (placeholder) => {
            const reference = this.#named[Number.parseInt(placeholder.slice(24), 16)]
            return reference ? textFor(reference) : placeholder
          })
        : text
    return mapTexts(fields, replace, []) as ConfigFields
  }
}
