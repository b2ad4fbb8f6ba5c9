import { compareNumbers, numberOf } from '@dendro/language/number'
import { compileRegex } from '@dendro/language/regex'
import { parseJsonFields, parseJsonPaths, parseLogfmtFields, parsePatternFields, parseRegexpFields, unpackLine } from './line-fields.ts'
import { linePatternRegex } from './logql/line-pattern.ts'
import type {
  ChosenLabel,
  LabelComparison,
  LabelCondition,
  LabelFormat,
  LineFilter,
  LineTemplate,
  LogqlStage,
  TemplateValue,
} from './logql/tree.ts'
import { bytesOf, durationNsOf } from './logql/units.ts'
import { valueTest } from './matchers.ts'
import type { PipelineLabels } from './pipeline-labels.ts'

/** Applies stages to one line and its labels. Returns the line, or undefined when a filter drops it. */
export type LinePipeline = (line: string, labels: PipelineLabels) => string | undefined

/** Compiles stages to be applied to many events. */
export function compilePipeline(stages: readonly LogqlStage[]): LinePipeline {
  const compiled = stages.map(compileStage)
  return (line, labels) => {
    let current: string | undefined = line
    for (const stage of compiled) {
      current = stage(current, labels)
      if (current === undefined) return undefined
    }
    return current
  }
}

function compileStage(stage: LogqlStage): LinePipeline {
  switch (stage.kind) {
    case 'line': {
      const test = lineTest(stage)
      return (line) => (test(line) ? line : undefined)
    }
    case 'labels': {
      const test = conditionTest(stage.condition)
      return (line, labels) => (test(labels) ? line : undefined)
    }
    case 'json':
      return stage.fields.length === 0 ? keepingLine(parseJsonFields) : keepingLine(parseJsonPaths(stage.fields))
    case 'logfmt':
      return keepingLine(parseLogfmtFields(stage))
    case 'regexp':
      return keepingLine(parseRegexpFields(stage.pattern))
    case 'pattern':
      return keepingLine(parsePatternFields(stage.pieces))
    case 'unpack':
      return unpackLine
    case 'line_format':
      return (line, labels) => renderTemplate(stage.template, line, labels)
    case 'label_format':
      return keepingLine((line, labels) => applyFormats(stage.formats, line, labels))
    case 'drop': {
      const tests = stage.labels.map(chosenTest)
      return keepingLine((_line, labels) => dropLabels(tests, labels))
    }
    case 'keep': {
      const tests = stage.labels.map(chosenTest)
      return keepingLine((_line, labels) => keepLabels(tests, labels))
    }
    case 'decolorize':
      return (line) => line.replaceAll(ANSI_COLOR, '')
    case 'unwrap':
      return (line) => line
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors of terminals begin with an escape character.
const ANSI_COLOR = /\x1b\[[0-9;]*m/g

const keepingLine =
  (apply: (line: string, labels: PipelineLabels) => void): LinePipeline =>
  (line, labels) => {
    apply(line, labels)
    return line
  }

function lineTest({ operator, texts }: LineFilter): (line: string) => boolean {
  const isNegated = operator.startsWith('!')
  const tests = texts.map((text): ((line: string) => boolean) => {
    if (operator.endsWith('=')) return (line) => line.includes(text)
    const regex = compileRegex({ pattern: operator.endsWith('~') ? text : linePatternRegex(text), ignoreCase: false })
    return (line) => regex.test(line)
  })
  return (line) => tests.some((test) => test(line)) !== isNegated
}

function conditionTest(condition: LabelCondition): (labels: PipelineLabels) => boolean {
  switch (condition.kind) {
    case 'and': {
      const tests = condition.of.map(conditionTest)
      return (labels) => tests.every((test) => test(labels))
    }
    case 'or': {
      const tests = condition.of.map(conditionTest)
      return (labels) => tests.some((test) => test(labels))
    }
    case 'match': {
      const { name } = condition.matcher
      const test = valueTest(condition.matcher)
      return (labels) => test(labels.get(name))
    }
    case 'compare': {
      const test = quantityTest(condition)
      // Lines that a parser could not read pass, so that a condition on the error can find them.
      return (labels) => labels.hasError || test(labels.find(condition.name))
    }
  }
}

/** Values that are no quantity of the unit do not match. */
function quantityTest({ operator, unit, value, text }: LabelComparison): (written: string | undefined) => boolean {
  const number = /^-?\d+(?:\.\d+)?$/.test(text) ? text : String(value)
  return (written) => {
    if (written === undefined) return false
    if (unit === 'number') return numberOf(written) !== undefined && holds(operator, compareNumbers(written, number))
    const read = unit === 'duration' ? durationNsOf(written) : (bytesOf(written) ?? numberOf(written))
    return read !== undefined && holds(operator, read - value)
  }
}

function holds(operator: LabelComparison['operator'], order: number): boolean {
  switch (operator) {
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '==':
      return order === 0
    case '!=':
      return order !== 0
  }
}

function renderTemplate(template: LineTemplate, line: string, labels: PipelineLabels): string {
  const textOf = (value: TemplateValue): string => ('label' in value ? labels.get(value.label) : line)
  return template
    .map((part) => ('text' in part ? part.text : 'contains' in part ? String(textOf(part.of).includes(part.contains)) : textOf(part)))
    .join('')
}

function applyFormats(formats: readonly LabelFormat[], line: string, labels: PipelineLabels): void {
  for (const format of formats) {
    if ('template' in format) {
      labels.set(format.name, renderTemplate(format.template, line, labels))
      continue
    }
    const value = labels.find(format.from)
    if (value === undefined) continue
    labels.set(format.name, value)
    if (format.from !== format.name) labels.remove(format.from)
  }
}

type ChosenTest = { readonly name: string; readonly test: (value: string) => boolean }
const chosenTest = ({ name, matcher }: ChosenLabel): ChosenTest => ({ name, test: matcher ? valueTest(matcher) : () => true })

function dropLabels(chosen: readonly ChosenTest[], labels: PipelineLabels): void {
  for (const { name, test } of chosen) if (test(labels.get(name))) labels.remove(name)
}

function keepLabels(chosen: readonly ChosenTest[], labels: PipelineLabels): void {
  for (const name of labels.names) {
    if (name.startsWith('__')) continue
    if (!chosen.some((one) => one.name === name && one.test(labels.get(name)))) labels.remove(name)
  }
}
