import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    testing: 'src/testing.ts',
    'cli/main': 'src/cli/main.ts',
    reaper: 'src/sandbox/docker/ownership/reaper/main.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: { entry: ['src/index.ts', 'src/testing.ts'] },
  sourcemap: true,
  clean: ['dist/*.js', 'dist/*.map', 'dist/*.d.ts', 'dist/cli'],
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
})
