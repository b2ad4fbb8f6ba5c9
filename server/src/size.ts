import { printSize } from './sizing/sizing.ts'

/** `npm run size`: what a volume of events needs. One write, since a reader such as `head` may leave before the end. */
const lines: string[] = []
process.exitCode = printSize(process.argv.slice(2), (line) => lines.push(line))
process.stdout.write(`${lines.join('\n')}\n`)
