import type { Permission } from '@dendro/api'
import type { z } from 'zod'
import type { Actor } from '../http/actor.ts'
import type { CallEndpoint } from '../http/inner-calls.ts'
import type { Cuts } from './cuts.ts'
import { answerSchema, type CreationOutput, creationSchema, type ToolOutput } from './output-schema.ts'

/** What a tool may use: the caller, and the endpoints as this caller reaches them. */
export type ToolContext = {
  readonly actor: Actor
  readonly call: CallEndpoint
  readonly cuts: Cuts
  readonly nowMs: number
  /** The confirmations that are valid now for a change by this caller with these arguments, the newest first. */
  confirmationsOf(args: object): readonly string[]
}

/** The result of a tool. */
export type ToolAnswer = {
  /** One or two sentences. They contain numbers and times, and no text from logs. */
  readonly summary: string
  /** The page of the web app that shows the same. */
  readonly link?: string | undefined
  /** Values of the service itself, such as counts, times and ids. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** Everything that may contain text of senders or users. */
  readonly data?: Readonly<Record<string, unknown>>
}

export type AgentTool = {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The caller needs all of them; otherwise the tool is not listed. */
  readonly permissions: readonly Permission[]
  readonly isReadOnly: boolean
  /** The arguments for fields of endpoints that have other names, by the beginning of the field. */
  readonly argumentNames?: ReadonlyMap<string, string>
  /** Names of endpoints that callers use for an argument, with its own. */
  readonly otherNames?: ReadonlyMap<string, string>
  readonly input: z.ZodObject
  /** The answer, unless the tool fails. */
  readonly output: z.ZodObject
  run(args: unknown, context: ToolContext): Promise<ToolAnswer>
}

type Declared<S extends z.ZodObject> = Omit<AgentTool, 'input' | 'output' | 'isReadOnly' | 'run'> & {
  readonly input: S
  run(args: z.output<S>, context: ToolContext): Promise<ToolAnswer>
}

/** Declares a tool that changes nothing. */
export const readingTool = <S extends z.ZodObject>(declaration: Declared<S> & { readonly output: ToolOutput }): AgentTool => ({
  ...declaration,
  output: answerSchema(declaration.output),
  isReadOnly: true,
  run: (args, context) => declaration.run(args as z.output<S>, context),
})

/** Declares a tool that creates a record. */
export const creatingTool = <S extends z.ZodObject>(declaration: Declared<S> & { readonly output: CreationOutput }): AgentTool => ({
  ...declaration,
  output: creationSchema(declaration.output),
  isReadOnly: false,
  run: (args, context) => declaration.run(args as z.output<S>, context),
})
