import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const alias = {
  'belljar/testing': fileURLToPath(new URL('./src/testing.ts', import.meta.url)),
  belljar: fileURLToPath(new URL('./src/index.ts', import.meta.url)),
}

export default defineConfig({
  resolve: { alias },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts', 'test/interop/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'docker',
          include: ['test/docker/**/*.test.ts', 'test/contract/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          globalSetup: ['test/support/leak-check.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          maxConcurrency: 3,
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
          globalSetup: ['test/support/leak-check.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          testTimeout: 1_800_000,
          maxWorkers: 1,
        },
      },
    ],
  },
})
