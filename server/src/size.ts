import { printSize } from './sizing/sizing.ts'

/** `npm run size`: what a volume of events needs. */
process.exitCode = printSize(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`))
