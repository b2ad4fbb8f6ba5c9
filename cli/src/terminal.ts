/** The environment of a command: its input, output and environment variables. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>
  out(line: string): void
  err(line: string): void
  /** Writes text to standard output without a line end and without escapes, and waits while its reader is slow. */
  write(text: string | Uint8Array): Promise<void>
  readInput(): Promise<string>
  /** Standard input in pieces. */
  input(): AsyncIterable<Uint8Array>
  /** Prompts for a secret that is not shown; without a terminal, it is the first line of standard input. */
  readSecret(prompt: string): Promise<string>
  /** True if a person can answer: input and messages are a terminal. */
  isInteractive: boolean
  /** Prompts for a line of input. */
  readLine(prompt: string): Promise<string>
  /** Replaces the current line of standard error; does nothing if that is not a terminal. */
  progress(line: string): void
  /** The width of tables; undefined when the output is not a terminal and nothing is truncated. */
  columns: number | undefined
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal
}
