import type { AgentConfig, AgentType } from '@dendro/api'
import type { ChangeReport, ConfigOperation, SourceKind } from './operations.ts'

/** A mistake in a file; lines count from 1. */
export type ConfigProblem = { readonly line?: number; readonly message: string }

/** Thrown for text that is not a configuration of the agent. */
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
  /** The oldest version that supports everything written here. */
  readonly versionMin: string
  /** Requirements besides the file. */
  readonly needs: string
  /** The start of a comment line. */
  readonly comment: '#' | '//'
  /** Events in a batch of a new file, where another number than usual is better. */
  readonly batchSize?: number
  /** Parses a file, or throws UnreadableConfig; an empty text is a new file. */
  open(text: string): D
  write(draft: D): string
  problems(draft: D): ConfigProblem[]
  readonly handlers: Handlers<D>
}

/** A program that ships logs: how its files are parsed, changed and validated. */
export type Agent = Pick<
  Definition<never>,
  'agent' | 'displayName' | 'format' | 'sources' | 'versionMin' | 'needs' | 'comment' | 'batchSize'
> & {
  apply(text: string, operations: readonly ConfigOperation[], report: ChangeReport): string
  problems(text: string): readonly ConfigProblem[]
}

const PROBLEMS_MAX = 100

/** Builds an agent whose parsed files have a type of their own. */
export function defineAgent<D>(definition: Definition<D>): Agent {
  const { agent, displayName, format, sources, versionMin, needs, comment, batchSize } = definition
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
    ...(batchSize !== undefined && { batchSize }),
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
