/** The environment of a command: its streams, variables and signals. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>
  out(line: string): void
  err(line: string): void
  readInput(): Promise<string>
  /** columns is the width to lay tables out for; undefined when nobody looks and nothing needs cutting. */
  columns: number | undefined
}
