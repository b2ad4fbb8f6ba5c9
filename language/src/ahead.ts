import { isKeyword } from './keyword.ts'
import { isNumber } from './number.ts'
import type { Name, Token } from './token.ts'

/** An Ahead is a reader that can look at what comes next and go back. */
type Ahead = { readonly text: string; at: number; peekRun(): Token | undefined; operatorFollows(): boolean }

const KEY_AND_VALUE = /^[@$]?[\p{L}_][\p{L}\d_.-]*:(?!\/\/)/u

/** wordsFrom is the text from a key to the end of the plain words that come next: what was meant when the key was a word to search for. */
export function wordsFrom(ahead: Ahead, name: Name | undefined): Token | undefined {
  if (!name || name.quoted) return undefined
  const next = ahead.peekRun()
  const end = next && !isNumber(next.text) ? endOfWords(ahead) : ahead.at
  if (end <= ahead.at) return undefined
  return { text: ahead.text.slice(name.position, end), position: name.position, length: end - name.position }
}

/** conditionFollows reports whether a whole condition begins here, so that only a connective is missing. */
export function conditionFollows(ahead: Ahead): boolean {
  const start = ahead.at
  const run = ahead.peekRun()
  if (run && KEY_AND_VALUE.test(run.text)) return true
  if (run && !isKeyword(run.text.toUpperCase())) ahead.at += run.length
  const follows = run !== undefined && (ahead.at === start || ahead.operatorFollows())
  ahead.at = start
  return follows
}

/** endOfWords is where the plain words end that come next, without a word that begins a condition of its own. */
export function endOfWords(ahead: Ahead): number {
  const start = ahead.at
  let end = start
  for (let run = ahead.peekRun(); run && !isKeyword(run.text.toUpperCase()); run = ahead.peekRun()) {
    ahead.at += run.length
    if (KEY_AND_VALUE.test(run.text) || ahead.operatorFollows() || ahead.text[ahead.at] === '(') break
    end = ahead.at
  }
  ahead.at = start
  return end
}
