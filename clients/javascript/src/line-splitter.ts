/** A text without a line end is passed on in parts of this length. */
const LINE_LENGTH_MAX = 16 * 2 ** 20

/** Joins chunks and passes on whole lines. */
export class LineSplitter {
  readonly #pass: (line: string) => void
  #rest = ''

  constructor(pass: (line: string) => void) {
    this.#pass = pass
  }

  add(chunk: string): void {
    const end = chunk.lastIndexOf('\n')
    if (end < 0) this.#rest += chunk
    else {
      for (const line of (this.#rest + chunk.slice(0, end)).split('\n')) if (line !== '') this.#pass(line)
      this.#rest = chunk.slice(end + 1)
    }
    if (this.#rest.length > LINE_LENGTH_MAX) this.end()
  }

  end(): void {
    if (this.#rest !== '') this.#pass(this.#rest)
    this.#rest = ''
  }
}
