import { type FieldDiagnostic, LanguageError } from './language-error.ts'
import { type ExpectedSyntax, type JoinPoint, ParseTrace, type SyntaxPiece } from './parse-trace.ts'
import { Scanner } from './scan.ts'

/** A Read reads a text by one of the parsers, which writes down what it does. */
export type TraceableParser = (text: string, trace: ParseTrace) => unknown

/** An Offer is what can stand at a cursor; it takes the place of what is typed from `from` on. */
export type Completion = ExpectedSyntax & { readonly from: number; readonly typed: string }

/** A ReadText is what a parser made of a text: what it took, and what it refused. `isOpen` says that it would have gone on at the end. */
export type ParsedText = {
  readonly pieces: readonly SyntaxPiece[]
  readonly joinPoints: readonly JoinPoint[]
  readonly problem: FieldDiagnostic | undefined
  readonly isOpen: boolean
}

const BLANK_END = /[ \t\r\n]*$/
const SIGNS = /^[=<>!~]+\*?$/
const QUOTED = /^(?:'(?:[^']|'')*'?|"(?:[^"]|"")*"?)$/

/** offersAt is what the parser of a text would have taken at the cursor, or in the place of the token that is being written there. */
export function completionsAt(parse: TraceableParser, text: string, cursor: number): Completion[] {
  const before = text.slice(0, cursor)
  const isWriting = /[^\s(),=<>!~*+/]$/.test(before)
  const seen = new Set<string>()
  return traced(parse, before).notes.expected.flatMap(({ position: from, ...what }) => {
    const typed = before.slice(from)
    const isGlued = what.kind === 'value' && what.glued === true
    const fits = from === cursor ? !isWriting || isGlued : from < cursor && isToken(typed)
    const completion: Completion = { ...what, from, typed }
    const id = JSON.stringify(completion)
    if (!fits || seen.has(id)) return []
    seen.add(id)
    return [completion]
  })
}

/** isToken reports whether a text is one token, as far as it has been written. */
const isToken = (text: string): boolean => SIGNS.test(text) || isRun(text) || QUOTED.test(text) || /^[()+*/,-]$/.test(text)

const isRun = (text: string): boolean => new Scanner(anyText, text).peekRun()?.length === text.length
const anyText = { field: '', noun: 'text', charsMax: Number.POSITIVE_INFINITY, operators: [], operatorHint: '' }

/** readText is what a parser makes of a text. */
export function parseText(parse: TraceableParser, text: string): ParsedText {
  const { notes: trace, problem } = traced(parse, text)
  const end = text.replace(BLANK_END, '').length
  const isOpen = problem !== undefined && (problem.code === 'UNTERMINATED' || trace.expected.some(({ position }) => position >= end))
  return { pieces: trace.pieces, joinPoints: trace.joinPoints, problem, isOpen }
}

function traced(parse: TraceableParser, text: string): { notes: ParseTrace; problem: FieldDiagnostic | undefined } {
  const trace = new ParseTrace()
  try {
    parse(text, trace)
    return { notes: trace, problem: undefined }
  } catch (thrown) {
    if (!(thrown instanceof LanguageError)) throw thrown
    return { notes: trace, problem: thrown.problem }
  }
}
