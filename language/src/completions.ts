import { type FieldDiagnostic, LanguageError } from './language-error.ts'
import { type ExpectedSyntax, type JoinPoint, ParseTrace, type SyntaxPiece } from './parse-trace.ts'
import { Scanner } from './scan.ts'

/** A parser that can record a trace. */
export type TraceableParser = (text: string, trace: ParseTrace) => unknown

/** A suggestion at the cursor. It replaces the text from `from` on. */
export type Completion = ExpectedSyntax & { readonly from: number; readonly typed: string }

/** The result of parsing a text with a trace. `isOpen` means that the text is incomplete. */
export type ParsedText = {
  readonly pieces: readonly SyntaxPiece[]
  readonly joinPoints: readonly JoinPoint[]
  readonly problem: FieldDiagnostic | undefined
  readonly isOpen: boolean
}

const BLANK_END = /[ \t\r\n]*$/
const SIGNS = /^[=<>!~]+\*?$/
const QUOTED = /^(?:'(?:[^']|'')*'?|"(?:[^"]|"")*"?)$/

/** Returns what the parser would accept at the cursor, or instead of the token that is being typed there. */
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

/** Whether a text is one token, complete or not. */
const isToken = (text: string): boolean => SIGNS.test(text) || isRun(text) || QUOTED.test(text) || /^[()+*/,-]$/.test(text)

const isRun = (text: string): boolean => new Scanner(anyText, text).peekRun()?.length === text.length
const anyText = { field: '', noun: 'text', charsMax: Number.POSITIVE_INFINITY, operators: [], operatorHint: '' }

/** Parses a text and returns its trace and its error. */
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
