import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { type DatasetFileOptions, fileDataset } from '../../../src/task/dataset-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belljar-dataset-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function load(name: string, content: string | Uint8Array, options?: DatasetFileOptions) {
  await writeFile(join(folder, name), content)
  return fileDataset(name, options).load(folder)
}

const error = (where: string, message: string) =>
  expect.objectContaining({ code: 'config', message: `${join(folder, where)}: ${message}` })

const two = [
  { id: 'a', input: 'one', target: '1' },
  { id: 'b', input: 'two', target: '2' },
]

describe('fileDataset', () => {
  it.each([
    ['t.jsonl', '{"id":"a","input":"one","target":"1"}\n{"id":"b","input":"two","target":"2"}\n'],
    ['t.ndjson', '\ufeff{"id":"a","input":"one","target":"1"}\r\n\r\n{"id":"b","input":"two","target":"2"}'],
    ['t.json', JSON.stringify(two)],
    ['t.csv', 'id,input,target\na,one,1\nb,two,2\n'],
    ['T.CSV', '\ufeffid, input,target\r\n\r\na,one,1\r\n,,\r\nb,"two",2'],
    ['t.yaml', '- {id: a, input: one, target: "1"}\n- id: b\n  input: two\n  target: "2"\n'],
    [
      't.yml',
      '- &first\n  id: a\n  input: one\n  target: "1"\n- {<<: *first, id: b, input: two, target: "2"}\n',
    ],
  ])('reads %s', async (name, content) => {
    expect(await load(name, content)).toEqual(two)
  })

  it('takes an absolute path or a file URL wherever the task is, and a format by name', async () => {
    const file = join(folder, 'data.txt')
    await writeFile(file, '{"input":"x"}')
    const options = { format: 'jsonl' } as const
    expect(await fileDataset(file, options).load('/elsewhere')).toEqual([{ input: 'x' }])
    expect(await fileDataset(pathToFileURL(file), options).load('/elsewhere')).toEqual([{ input: 'x' }])
  })

  it('makes relative paths of files and tests absolute, from the folder of the data file', async () => {
    const record = {
      input: 'x',
      files: {
        '/w/a': { path: 'data/a' },
        '/w/b': 'text',
        '/w/c': { path: '/abs' },
        '/w/d': { data: 'YQ==' },
      },
      tests: { '/t/check.sh': { path: './check.sh' } },
    }
    const [sample] = await load('paths.jsonl', JSON.stringify(record))
    expect(sample?.files).toEqual({ ...record.files, '/w/a': { path: join(folder, 'data/a') } })
    expect(sample?.tests).toEqual({ '/t/check.sh': { path: join(folder, 'check.sh') } })
  })

  it('treats null as missing', async () => {
    expect(await load('null.jsonl', '{"input":"x","target":null}')).toEqual([{ input: 'x' }])
  })
})

describe('fields of a fileDataset', () => {
  const record = '{"question":"x","answer":"1","level":3,"topic":"sums"}'

  it('are found by the mapping', async () => {
    const fields = { input: 'question', target: 'answer', metadata: ['level', 'topic', 'absent'] }
    expect(await load('mapped.jsonl', record, { fields })).toEqual([
      { input: 'x', target: '1', metadata: { level: 3, topic: 'sums' } },
    ])
  })

  it('are made by a function', async () => {
    const fields: DatasetFileOptions['fields'] = ({ question }) => ({ input: String(question) })
    expect(await load('made.jsonl', record, { fields })).toEqual([{ input: 'x' }])
  })

  it('can share a name only where the mapping says so', async () => {
    const line = '{"id":"7"}'
    expect(await load('shared.jsonl', line, { fields: { input: 'id' } })).toEqual([{ input: '7' }])
    const both = { id: 'id', input: 'id' }
    expect(await load('shared.jsonl', line, { fields: both })).toEqual([{ id: '7', input: '7' }])
  })

  it('may be JSON text in a CSV file where they are structured', async () => {
    const csv =
      'input,files,metadata,sandbox,target\n' +
      'x,"{""/w/a"":""text""}","{""level"":1}",docker:compose.yaml,[1]\n' +
      'y,,,"{""kind"":""docker"",""image"":""busybox""}",NaN\n'
    expect(await load('structured.csv', csv)).toEqual([
      {
        input: 'x',
        files: { '/w/a': 'text' },
        metadata: { level: 1 },
        sandbox: { kind: 'docker', config: { compose: 'compose.yaml' } },
        target: '[1]',
      },
      { input: 'y', sandbox: { kind: 'docker', config: { image: 'busybox' } } },
    ])
  })
})

describe('a fileDataset that is wrong', () => {
  it.each([
    ['e.jsonl', '', 'e.jsonl', 'has no samples'],
    ['e.json', '[]', 'e.json', 'has no samples'],
    ['e.csv', 'id,input\n', 'e.csv', 'has no samples'],
    ['e.yaml', '# nothing\n', 'e.yaml', 'has no samples'],
    ['a.json', '{"input":"x"}', 'a.json', 'expected a list of records, got a record'],
    ['a.yaml', 'input: x', 'a.yaml', 'expected a list of records'],
    ['r.jsonl', '{"input":"x"}\n\n[1]\n', 'r.jsonl:3', 'expected a record of fields, got a list'],
    ['r.json', '[{"input":"x"}, 7]', 'r.json, record 2', 'expected a record of fields, got a number'],
    ['r.yaml', '- input: x\n\n- just text\n', 'r.yaml:3', 'expected a record of fields, got a string'],
    ['d.csv', 'id,input,id\n1,2,3\n', 'd.csv:1', "two columns are named 'id'"],
    ['n.csv', ',input\n0,x\n', 'n.csv:1', 'column 1 has no name'],
    ['d.yaml', '- input: x\n- input: y\n  input: z\n', 'd.yaml:3', 'is not YAML: Map keys must be unique'],
    ['u.txt', new Uint8Array([0x5b, 0xff]), 'u.txt', 'is not UTF-8 text'],
  ])('names file, place and problem: %s', async (...[name, content, where, message]) => {
    const options = name.endsWith('.txt') ? ({ format: 'json' } as const) : undefined
    await expect(load(name, content, options)).rejects.toEqual(error(where, message))
  })

  it.each([
    ['b.jsonl', '{"input":"x"}\n{"input":\n', /b\.jsonl:2: is not JSON: /],
    ['b.json', '[{"input":]', /b\.json: is not JSON: /],
    ['b.csv', 'id,input\r\n1,"a\r\nb"\r\n2,3,4\r\n', /b\.csv:4: .*expect 2, got 3/],
    ['q.csv', 'id,input\n1,"x\n', /q\.csv:2: Quote Not Closed/],
    ['b.yaml', '- input: x\n- input: [\n', /b\.yaml:\d: is not YAML: /],
    ['f.jsonl', '{"input":"x"}\n{"input":7}', /f\.jsonl:2: invalid sample: field 'input': expected text/],
    ['f.csv', 'id,input\n1,"a\nb"\n\n2,\n', /f\.csv:5: invalid sample: field 'input'/],
    [
      'f.yaml',
      '- input: x\n- input: y\n  files: {a: {pat: b}}\n',
      /f\.yaml:2: invalid sample: field 'files\.a'/,
    ],
    ['u.jsonl', '{"input":"x","goal":1}', /u\.jsonl:1: unknown field 'goal'; expected id, input, /],
    ['j.csv', 'input,files\nx,none\n', /j\.csv:2: field 'files': expected JSON text: /],
  ])('says what the parser says, with the line: %s', async (name, content, message) => {
    await expect(load(name, content)).rejects.toThrow(message)
  })

  it('tells which record a function of the mapping failed on', async () => {
    const fields = () => {
      throw new Error('no idea')
    }
    const run = load('fn.jsonl', '\n{"a":1}', { fields })
    await expect(run).rejects.toEqual(error('fn.jsonl:2', 'the function that makes samples failed: no idea'))
  })

  it('says that there is no such file', async () => {
    await expect(fileDataset('absent.jsonl').load(folder)).rejects.toThrow(
      /absent\.jsonl: cannot read .*ENOENT/,
    )
  })

  it.each([
    () => fileDataset('data.xls'),
    () => fileDataset(new URL('https://example.com/a.jsonl')),
    () => fileDataset('a.jsonl', { fields: { inptu: 'x' } as never }),
  ])('is refused before anything is read: %s', (make) => {
    expect(make).toThrow(ConfigError)
  })
})
