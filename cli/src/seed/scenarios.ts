import type { CliClient } from '../connection.ts'
import { shop } from './shop.ts'

/** Fills an organization with demo data. Running it again creates what is missing and changes nothing else. */
export type Scenario = {
  summary: string
  run(client: CliClient, say: (line: string) => void): Promise<void>
}

export const scenarios = { shop } satisfies Record<string, Scenario>
