import type { AgentConfig, AgentType } from '@dendro/api'
import type { ChangeReport, ConfigOperation, SourceKind } from './operations.ts'

/** A Problem is a mistake in a file; lines count from 1. */
export type ConfigProblem = { readonly line?: number; readonly message: string }

/** An Unreadable file is no configuration of its agent at all. */
export class UnreadableConfig extends Error {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ line, message }) => (line === undefined ? message : `line ${line}: ${message}`)).join('; '))
    this.name = 'Unreadable'
    this.problems = problems
  }
}

/** Applies one kind of operation to a draft; unsupported settings are reported as warnings. */
export type OperationHandler<D, K extends ConfigOperation['kind']> = (
  draft: D,
  operation: Extract<ConfigOperation, { kind: K }>,
  report: ChangeReport,
) => void
type Handlers<D> = { readonly [K in ConfigOperation['kind']]: OperationHandler<D, K> }

type Definition<D> = {
  readonly agent: AgentType
  readonly displayName: string
  readonly format: AgentConfig['format']
  readonly sources: readonly SourceKind[]
  /** versionMin is the oldest version that reads all that is written here. */
  readonly versionMin: string
  /** needs says what must be there besides the file. */
  readonly needs: string
  /** comment begins a line that the agent does not read. */
  readonly comment: '#' | '//'
  /** open reads a file, or throws Unreadable; an empty text is the beginning of a new one. */
  open(text: string): D
  write(draft: D): string
  problems(draft: D): ConfigProblem[]
  readonly handlers: Handlers<D>
}

/** An Agent is one program that ships logs: how its files are read, changed and looked over. */
export type Agent = Pick<Definition<never>, 'agent' | 'displayName' | 'format' | 'sources' | 'versionMin' | 'needs' | 'comment'> & {
  apply(text: string, operations: readonly ConfigOperation[], report: ChangeReport): string
  problems(text: string): readonly ConfigProblem[]
}

const PROBLEMS_MAX = 100

/** defineAgent makes an agent whose files in work are of a type of its own. */
export function defineAgent<D>(definition: Definition<D>): Agent {
  const { agent, displayName, format, sources, versionMin, needs, comment } = definition
  const handle = <K extends ConfigOperation['kind']>(
    draft: D,
    kind: K,
    operation: Extract<ConfigOperation, { kind: K }>,
    report: ChangeReport,
  ): void => definition.handlers[kind](draft, operation, report)
  return {
    agent,
    displayName,
    format,
    sources,
    versionMin,
    needs,
    comment,
    apply: (text, operations, report) => {
      const isOfWindows = text.includes('\r\n')
      const draft = definition.open(text.replaceAll('\r\n', '\n'))
      for (const operation of operations) {
        if (operation.kind === 'source' && !sources.includes(operation.source.kind)) {
          report.warn(`${displayName} has no input for ${operation.source.kind}; such events need another agent`)
        } else handle(draft, operation.kind, operation as never, report)
      }
      const written = definition.write(draft)
      return isOfWindows ? written.replaceAll('\n', '\r\n') : written
    },
    problems: (text) => {
      try {
        return definition.problems(definition.open(text.replaceAll('\r\n', '\n'))).slice(0, PROBLEMS_MAX)
      } catch (problem) {
        if (problem instanceof UnreadableConfig) return problem.problems
        throw problem
      }
    },
  }
}
