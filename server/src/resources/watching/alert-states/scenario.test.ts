import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { play, readScenarios } from './cases/play.fixture.ts'

const folder = join(import.meta.dirname, 'cases')
const words = (line: string): string =>
  line
    .split('|')
    .map((cell) => cell.trim())
    .join(' | ')
    .replace(/[ |]+$/, '')

for (const file of readdirSync(folder).filter((name) => name.endsWith('.txt'))) {
  describe(file.replace('.txt', ''), () => {
    for (const scenario of readScenarios(readFileSync(join(folder, file), 'utf8'))) {
      test(scenario.title, () => {
        expect(play(scenario).map(words)).toEqual(scenario.lines.map(words))
      })
    }
  })
}
