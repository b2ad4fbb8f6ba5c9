/** A Secret is text that must not reach a log, an answer or an error: however it is printed, it prints as ***. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** reveal is the only way to the text; call it where the text is used, not before. */
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
