import type { CliClient } from '../connection.ts'
import { shop } from './shop.ts'

/** A Scenario fills an organisation with something to look at. Running it again makes what is missing and changes nothing else. */
export type Scenario = {
  summary: string
  run(client: CliClient, say: (line: string) => void): Promise<void>
}

export const scenarios = { shop } satisfies Record<string, Scenario>
