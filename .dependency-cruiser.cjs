/**
 * Layers of docs/architecture.md: a folder may import from its own layer's folder and from lower layers only.
 * Folders within one layer do not import each other.
 */
const layers = [
  ['cli'],
  ['control', 'suites', 'replay'],
  ['run'],
  ['task'],
  ['log'],
  ['score'],
  ['agent'],
  ['sandbox'],
  ['sample', 'limit'],
  ['util'],
]

const forbidden = layers.flatMap((folders, level) =>
  folders.map((folder) => {
    const above = layers.slice(0, level).flat()
    const beside = folders.filter((other) => other !== folder)
    return {
      name: `layer-${folder}`,
      comment: `src/${folder} may not import from layers above or beside it`,
      severity: 'error',
      from: { path: `^src/${folder}/` },
      to: { path: `^src/(${[...above, ...beside, 'index\\.ts', 'testing\\.ts'].join('|')})` },
    }
  }),
)

module.exports = {
  forbidden: [
    ...forbidden,
    {
      name: 'errors-is-a-leaf',
      severity: 'error',
      from: { path: '^src/errors\\.ts$' },
      to: { path: '^src/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
}
