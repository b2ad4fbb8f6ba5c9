/** The environment of a command: its input, output and environment variables. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>
  out(line: string): void
  err(line: string): void
  readInput(): Promise<string>
  /** The width of tables; undefined when the output is not a terminal and nothing is truncated. */
  columns: number | undefined
}
