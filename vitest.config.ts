import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: the test runner reads the default export
export default defineConfig({
  test: {
    include: ['{api,server,cli}/src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/stores.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
