import { isKeyword } from './keyword.ts'
import { isNumber } from './number.ts'
import type { NameToken, Token } from './token.ts'

/** A scanner that can look ahead and go back. */
type Lookahead = { readonly text: string; at: number; peekRun(): Token | undefined; operatorFollows(): boolean }

const KEY_AND_VALUE = /^[@$]?[\p{L}_][\p{L}\d_.-]*:(?!\/\/)/u

/** Returns the text from a key to the end of the plain words that follow. It is what the user meant if the key was a word to search for. */
export function wordsFrom(scanner: Lookahead, name: NameToken | undefined): Token | undefined {
  if (!name || name.quoted) return undefined
  const next = scanner.peekRun()
  const end = next && !isNumber(next.text) ? endOfWords(scanner) : scanner.at
  if (end <= scanner.at) return undefined
  return { text: scanner.text.slice(name.position, end), position: name.position, length: end - name.position }
}

/** Whether a complete condition begins here, so that only a connective is missing. */
export function conditionFollows(scanner: Lookahead): boolean {
  const start = scanner.at
  const run = scanner.peekRun()
  if (run && KEY_AND_VALUE.test(run.text)) return true
  if (run && !isKeyword(run.text.toUpperCase())) scanner.at += run.length
  const follows = run !== undefined && (scanner.at === start || scanner.operatorFollows())
  scanner.at = start
  return follows
}

/** Returns the end of the plain words that follow, without a word that begins a condition. */
export function endOfWords(scanner: Lookahead): number {
  const start = scanner.at
  let end = start
  for (let run = scanner.peekRun(); run && !isKeyword(run.text.toUpperCase()); run = scanner.peekRun()) {
    scanner.at += run.length
    if (KEY_AND_VALUE.test(run.text) || scanner.operatorFollows() || scanner.text[scanner.at] === '(') break
    end = scanner.at
  }
  scanner.at = start
  return end
}
