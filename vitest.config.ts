import { defineConfig } from 'vitest/config'
import { ClosingLine } from './test/closing-line.ts'

// biome-ignore lint/style/noDefaultExport: the test runner reads the default export
export default defineConfig({
  test: {
    include: ['{api,server,cli}/src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/stores.ts'],
    reporters: ['default', new ClosingLine()],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
