import type { AgentConfig, AgentType } from '@dendro/api'
import type { Operation, SourceKind, Told } from './operations.ts'

/** A Problem is a mistake in a file; lines count from 1. */
export type Problem = { readonly line?: number; readonly message: string }

/** An Unreadable file is no configuration of its agent at all. */
export class Unreadable extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ line, message }) => (line === undefined ? message : `line ${line}: ${message}`)).join('; '))
    this.name = 'Unreadable'
    this.problems = problems
  }
}

/** A Handler does one kind of operation to a file in work; what the agent cannot do is told. */
export type Handler<D, K extends Operation['kind']> = (draft: D, operation: Extract<Operation, { kind: K }>, told: Told) => void
type Handlers<D> = { readonly [K in Operation['kind']]: Handler<D, K> }

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
  problems(draft: D): Problem[]
  readonly handlers: Handlers<D>
}

/** An Agent is one program that ships logs: how its files are read, changed and looked over. */
export type Agent = Pick<Definition<never>, 'agent' | 'displayName' | 'format' | 'sources' | 'versionMin' | 'needs' | 'comment'> & {
  apply(text: string, operations: readonly Operation[], told: Told): string
  problems(text: string): readonly Problem[]
}

const PROBLEMS_MAX = 100

/** defineAgent makes an agent whose files in work are of a type of its own. */
export function defineAgent<D>(definition: Definition<D>): Agent {
  const { agent, displayName, format, sources, versionMin, needs, comment } = definition
  const handle = <K extends Operation['kind']>(draft: D, kind: K, operation: Extract<Operation, { kind: K }>, told: Told): void =>
    definition.handlers[kind](draft, operation, told)
  return {
    agent,
    displayName,
    format,
    sources,
    versionMin,
    needs,
    comment,
    apply: (text, operations, told) => {
      const isOfWindows = text.includes('\r\n')
      const draft = definition.open(text.replaceAll('\r\n', '\n'))
      for (const operation of operations) {
        if (operation.kind === 'source' && !sources.includes(operation.source.kind)) {
          told.cannot(`${displayName} has no input for ${operation.source.kind}; such events need another agent`)
        } else handle(draft, operation.kind, operation as never, told)
      }
      const written = definition.write(draft)
      return isOfWindows ? written.replaceAll('\n', '\r\n') : written
    },
    problems: (text) => {
      try {
        return definition.problems(definition.open(text.replaceAll('\r\n', '\n'))).slice(0, PROBLEMS_MAX)
      } catch (problem) {
        if (problem instanceof Unreadable) return problem.problems
        throw problem
      }
    },
  }
}
