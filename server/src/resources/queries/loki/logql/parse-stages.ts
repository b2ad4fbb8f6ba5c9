import { compileRegex, regexProblem } from '@dendro/language/regex'
import { checkLinePattern } from './line-pattern.ts'
import { parseLabelCondition, parseMatcher } from './parse-conditions.ts'
import { parseFieldPath } from './parse-path.ts'
import { parsePattern } from './parse-pattern.ts'
import { parseTemplate } from './parse-template.ts'
import type { LogqlToken } from './scan.ts'
import { echoed } from './syntax-error.ts'
import type { LogqlTokens } from './tokens.ts'
import type { ChosenLabel, FieldPath, LabelFormat, LineFilter, LogqlStage, UnwrapUnit } from './tree.ts'

const STAGES_MAX = 100
const lineOperators: ReadonlySet<string> = new Set<LineFilter['operator']>(['|=', '!=', '|~', '!~', '|>', '!>'])
const LABEL = 'the name of a label'

/** Parses the stages after a selector. */
export function parseStages(tokens: LogqlTokens): LogqlStage[] {
  const stages: LogqlStage[] = []
  while (tokens.isMark('|', ...lineOperators)) {
    stages.push(tokens.isMark('|') ? parsePipe(tokens) : parseLineFilter(tokens))
    if (stages.length > STAGES_MAX) throw tokens.error(tokens.peek(), `a pipeline has at most ${STAGES_MAX} stages`)
  }
  return stages
}

function parseLineFilter(tokens: LogqlTokens): LineFilter {
  const mark = tokens.next()
  const operator = mark.text
  if (!isLineOperator(operator)) throw tokens.error(mark, `${echoed(operator)} is no line filter`)
  const texts: string[] = []
  do {
    if (tokens.isWord('ip')) throw tokens.error(tokens.peek(), 'the line filter ip(…) is not supported; use |= or |~')
    const token = tokens.take('string', 'a string')
    if (operator === '|~' || operator === '!~') checkRegex(tokens, token)
    if (operator === '|>' || operator === '!>') checkLinePattern(tokens, token)
    texts.push(token.text)
  } while (tokens.skipWord('or'))
  return { kind: 'line', operator, texts, at: tokens.since(mark.position) }
}

const isLineOperator = (text: string): text is LineFilter['operator'] => lineOperators.has(text)

/** Refuses a regular expression that cannot be compiled. */
export function checkRegex(tokens: LogqlTokens, token: LogqlToken): void {
  const problem = regexProblem(
    { text: token.text, position: token.position, length: token.length },
    { pattern: token.text, ignoreCase: false },
  )
  if (problem) throw tokens.error(token, `${problem.message}${problem.hint ? `; ${problem.hint}` : ''}`)
}

type StageParser = (tokens: LogqlTokens, at: number) => LogqlStage

const stageParsers: ReadonlyMap<string, StageParser> = new Map(
  Object.entries<StageParser>({
    json: (tokens, at) => ({ kind: 'json', fields: parseFields(tokens), at: tokens.since(at) }),
    unpack: (tokens, at) => ({ kind: 'unpack', fields: [], at: tokens.since(at) }),
    logfmt: parseLogfmt,
    regexp: parseRegexp,
    pattern: (tokens, at) => {
      const token = tokens.take('string', 'the pattern as a string')
      return { kind: 'pattern', pieces: parsePattern(tokens, token), at: tokens.since(at) }
    },
    line_format: (tokens, at) => {
      const token = tokens.take('string', 'the template as a string')
      return { kind: 'line_format', template: parseTemplate(tokens, token), at: tokens.since(at) }
    },
    label_format: (tokens, at) => ({ kind: 'label_format', formats: parseFormats(tokens), at: tokens.since(at) }),
    drop: (tokens, at) => ({ kind: 'drop', labels: parseChosen(tokens), at: tokens.since(at) }),
    keep: (tokens, at) => ({ kind: 'keep', labels: parseChosen(tokens), at: tokens.since(at) }),
    decolorize: (tokens, at) => ({ kind: 'decolorize', at: tokens.since(at) }),
    unwrap: parseUnwrap,
  }),
)

function parsePipe(tokens: LogqlTokens): LogqlStage {
  const at = tokens.expect('|').position
  const { kind, text } = tokens.peek()
  const parser = kind === 'name' && !isComparison(tokens) ? stageParsers.get(text) : undefined
  if (parser) {
    tokens.next()
    return parser(tokens, at)
  }
  return { kind: 'labels', condition: parseLabelCondition(tokens), at: tokens.since(at) }
}

/** A label may have the name of a stage: then an operator follows. */
const isComparison = (tokens: LogqlTokens): boolean => {
  const { kind, text } = tokens.peek(1)
  return kind === 'mark' && ['=', '==', '!=', '=~', '!~', '>', '>=', '<', '<='].includes(text) && !isLineFilterAhead(tokens)
}

/** After a parser, `!=` and `!~` begin a line filter. */
const isLineFilterAhead = (tokens: LogqlTokens): boolean =>
  ['json', 'logfmt', 'unpack', 'decolorize'].includes(tokens.peek().text) && ['!=', '!~'].includes(tokens.peek(1).text)

function parseLogfmt(tokens: LogqlTokens, at: number): LogqlStage {
  let [isStrict, keepsEmpty] = [false, false]
  while (tokens.peek().kind === 'flag') {
    const flag = tokens.next()
    if (flag.text === '--strict') isStrict = true
    else if (flag.text === '--keep-empty') keepsEmpty = true
    else throw tokens.error(flag, `unknown flag ${echoed(flag.text)}; logfmt has --strict and --keep-empty`)
  }
  return { kind: 'logfmt', fields: parseFields(tokens), isStrict, keepsEmpty, at: tokens.since(at) }
}

function parseRegexp(tokens: LogqlTokens, at: number): LogqlStage {
  const token = tokens.take('string', 'the regular expression as a string')
  checkRegex(tokens, token)
  const names = Object.keys(compileRegex({ pattern: token.text, ignoreCase: false }).namedGroups())
  if (names.length === 0) throw tokens.error(token, 'regexp needs at least one named group, such as (?P<name>…)')
  const bad = names.find((name) => !/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name))
  if (bad !== undefined) throw tokens.error(token, `the name of the group ${echoed(bad)} is no name of a label`)
  return { kind: 'regexp', pattern: token.text, at: tokens.since(at) }
}

/** Parses `label="path", …` and bare labels; none is a parser of all fields. */
function parseFields(tokens: LogqlTokens): FieldPath[] {
  const fields: FieldPath[] = []
  while (tokens.peek().kind === 'name') {
    const name = tokens.next()
    if (tokens.skip('=')) {
      const path = tokens.take('string', 'the place of the value as a string')
      fields.push({ label: name.text, path: parseFieldPath(tokens, path) })
    } else fields.push({ label: name.text, path: [name.text] })
    if (!tokens.skip(',')) return fields
  }
  if (fields.length > 0) throw tokens.unexpected(LABEL)
  return fields
}

function parseFormats(tokens: LogqlTokens): LabelFormat[] {
  const formats: LabelFormat[] = []
  do {
    const name = tokens.take('name', LABEL)
    tokens.expect('=')
    if (tokens.peek().kind === 'name') formats.push({ name: name.text, from: tokens.next().text })
    else formats.push({ name: name.text, template: parseTemplate(tokens, tokens.take('string', `${LABEL} or a template`)) })
    if (formats.some((one, index) => one.name === name.text && index < formats.length - 1)) {
      throw tokens.error(name, `label_format sets ${echoed(name.text)} twice`)
    }
  } while (tokens.skip(','))
  return formats
}

function parseChosen(tokens: LogqlTokens): ChosenLabel[] {
  const labels: ChosenLabel[] = []
  do {
    const { text: name } = tokens.peek()
    const next = tokens.peek(1)
    const isMatched = next.kind === 'mark' && ['=', '!=', '=~', '!~'].includes(next.text)
    if (isMatched) labels.push({ name, matcher: parseMatcher(tokens) })
    else labels.push({ name: tokens.take('name', LABEL).text, matcher: undefined })
  } while (tokens.skip(','))
  return labels
}

const conversions: ReadonlyMap<string, UnwrapUnit> = new Map<string, UnwrapUnit>([
  ['duration', 'duration'],
  ['duration_seconds', 'duration'],
  ['bytes', 'bytes'],
])

function parseUnwrap(tokens: LogqlTokens, at: number): LogqlStage {
  const name = tokens.take('name', LABEL)
  if (!tokens.skip('(')) return { kind: 'unwrap', name: name.text, unit: 'number', at: tokens.since(at) }
  const unit = conversions.get(name.text)
  if (!unit) throw tokens.error(name, `unknown conversion ${echoed(name.text)}; there are bytes, duration and duration_seconds`)
  const label = tokens.take('name', LABEL)
  tokens.expect(')')
  return { kind: 'unwrap', name: label.text, unit, at: tokens.since(at) }
}
