/** Text that must not reach logs, responses or errors. It always prints as ***. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The only access to the text; call it where the text is used, not earlier. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***'
  }
}
