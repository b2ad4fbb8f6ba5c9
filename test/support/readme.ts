import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const README = join(resolve(import.meta.dirname, '../..'), 'README.md')

/** The shell commands in the code blocks of the README, in order. */
export const readmeCommands = (): string[] =>
  [...readFileSync(README, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
    .filter((line) => line !== '')

/** The npm commands that the README shows, in blocks, tables and text: `start`, `run seed`. */
export const readmeScripts = (): string[] => [
  ...new Set([...readFileSync(README, 'utf8').matchAll(/npm (run [a-z-]+|start\b|test\b)/g)].map(([, script = '']) => script)),
]
