import { readFileSync } from 'node:fs'

/** version is what package.json says. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
