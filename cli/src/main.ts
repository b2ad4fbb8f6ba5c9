#!/usr/bin/env node
import { text } from 'node:stream/consumers'
import { runCommand } from './program.ts'

// The reader of the output may close it early, as `head` does.
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code !== 'EPIPE') throw cause
  process.exit()
})

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  readInput: () => text(process.stdin),
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
})
