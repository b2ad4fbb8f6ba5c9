#!/usr/bin/env node
import { openTerminal } from './process-terminal.ts'
import { runCommand } from './program.ts'

const INTERRUPTED = 130
const interruption = new AbortController()

// The first signal ends the command cleanly, the second one at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(INTERRUPTED)
    interruption.abort()
  })
}

process.exitCode = await runCommand(process.argv.slice(2), openTerminal(process, interruption.signal))
