import { expect, it } from 'vitest'
import { fakeRun, fakeTask } from '../../support/fake-run.ts'

const DATASET = [{ id: 1, input: 'x' }]

/** Leaves a server behind, as a task may ask for. */
function serving(agentProcesses: 'keep' | 'kill') {
  return fakeTask({
    dataset: DATASET,
    sandbox: 'local',
    agentProcesses,
    agent: async ({ sandbox }) => {
      await sandbox.exec(['sh', '-c', 'sleep 300 > /dev/null 2>&1 &'])
    },
  })
}

async function notes(agentProcesses: 'keep' | 'kill') {
  const { log } = await fakeRun(serving(agentProcesses))
  return log.flatMap((record) =>
    record.type === 'event' && record.event.type === 'info' ? [record.event.data] : [],
  )
}

it('what an agent left running is recorded, whether it stays or is killed', async () => {
  expect(await notes('keep')).toEqual([{ leftRunning: ['sh'] }])
  expect(await notes('kill')).toEqual([{ stoppedCommands: [['sh']] }])
})
