import { type Expected, type Joint, Notes, type Piece } from './notes.ts'
import { type FieldProblem, Refused } from './refusal.ts'
import { Scanner } from './scan.ts'

/** A Read reads a text by one of the parsers, which writes down what it does. */
export type Read = (text: string, notes: Notes) => unknown

/** An Offer is what can stand at a cursor; it takes the place of what is typed from `from` on. */
export type Offer = Expected & { readonly from: number; readonly typed: string }

/** A ReadText is what a parser made of a text: what it took, and what it refused. `isOpen` says that it would have gone on at the end. */
export type ReadText = {
  readonly pieces: readonly Piece[]
  readonly joints: readonly Joint[]
  readonly problem: FieldProblem | undefined
  readonly isOpen: boolean
}

const BLANK_END = /[ \t\r\n]*$/
const SIGNS = /^[=<>!~]+\*?$/
const QUOTED = /^(?:'(?:[^']|'')*'?|"(?:[^"]|"")*"?)$/

/** offersAt is what the parser of a text would have taken at the cursor, or in the place of the token that is being written there. */
export function offersAt(read: Read, text: string, cursor: number): Offer[] {
  const before = text.slice(0, cursor)
  const isWriting = /[^\s(),=<>!~*+/]$/.test(before)
  const seen = new Set<string>()
  return noted(read, before).notes.expected.flatMap(({ position: from, ...what }) => {
    const typed = before.slice(from)
    const isGlued = what.kind === 'value' && what.glued === true
    const fits = from === cursor ? !isWriting || isGlued : from < cursor && isToken(typed)
    const offer: Offer = { ...what, from, typed }
    const id = JSON.stringify(offer)
    if (!fits || seen.has(id)) return []
    seen.add(id)
    return [offer]
  })
}

/** isToken reports whether a text is one token, as far as it has been written. */
const isToken = (text: string): boolean => SIGNS.test(text) || isRun(text) || QUOTED.test(text) || /^[()+*/,-]$/.test(text)

const isRun = (text: string): boolean => new Scanner(anyText, text).peekRun()?.length === text.length
const anyText = { field: '', noun: 'text', charsMax: Number.POSITIVE_INFINITY, operators: [], operatorHint: '' }

/** readText is what a parser makes of a text. */
export function readText(read: Read, text: string): ReadText {
  const { notes, problem } = noted(read, text)
  const end = text.replace(BLANK_END, '').length
  const isOpen = problem !== undefined && (problem.code === 'UNTERMINATED' || notes.expected.some(({ position }) => position >= end))
  return { pieces: notes.pieces, joints: notes.joints, problem, isOpen }
}

function noted(read: Read, text: string): { notes: Notes; problem: FieldProblem | undefined } {
  const notes = new Notes()
  try {
    read(text, notes)
    return { notes, problem: undefined }
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown
    return { notes, problem: thrown.problem }
  }
}
