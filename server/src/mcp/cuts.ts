import { counted, verb } from './counted.ts'

/** Log text in an answer, all rows together. */
const ANSWER_CHARS_MAX = 40_000
export const TEXT_CHARS = 300

/** Shortens an answer, and notes what was cut and how to get it. */
export class Cuts {
  readonly #notes: string[] = []
  #left = ANSWER_CHARS_MAX
  #texts = 0
  #longest = 0

  /** Shortens a text to `max` characters. */
  text(value: string, max: number = TEXT_CHARS): string {
    if (value.length <= max) return value
    this.#texts += 1
    this.#longest = Math.max(this.#longest, value.length)
    return `${value.slice(0, max).toWellFormed()}… (${counted(value.length - max, 'more character')})`
  }

  /** Keeps rows while they fit the answer. `more` says how to get the others. */
  rows<T>(rows: readonly T[], max: number, more: string): T[] {
    const kept: T[] = []
    for (const row of rows.slice(0, max)) {
      this.#left -= JSON.stringify(row, (_name, value) => (typeof value === 'bigint' ? value.toString() : value)).length
      if (this.#left < 0 && kept.length > 0) break
      kept.push(row)
    }
    if (kept.length < rows.length) this.note(`${kept.length} of ${rows.length} rows ${verb(kept.length, 'is', 'are')} shown; ${more}`)
    return kept
  }

  note(sentence: string): void {
    this.#notes.push(sentence)
  }

  /** The notes; `more` says how to get whole texts. */
  notes(more: string): string[] {
    if (this.#texts === 0) return this.#notes
    const texts = this.#texts === 1 ? '1 text was' : `${this.#texts} texts were`
    return [...this.#notes, `${texts} cut (the longest has ${this.#longest} characters); ${more}`]
  }
}
