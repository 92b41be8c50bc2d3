import { readdirSync, readFileSync } from 'node:fs';
import { expect } from '@hapi/code';
import { untilAtLeast, untilMatches } from '../harness/app.js';
import { says } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

/** The processes of this machine that were started with that word. */
const running = (word: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandOf(pid).includes(word));

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It ended while we looked.
    return '';
  }
};

export const startShellStage = async (): Promise<Stage> => {
  const stage = await startStage({ allowUnconfined: true });
  const body = { skillId: 'shell', action: 'run', level: 'allow' };
  await stage.ask('PUT', '/api/skills/permissions', body);
  return stage;
};

/** Runs `measured` around the stop. */
export const stopDeafShell = async (
  stage: Stage,
  measured: (stop: () => Promise<void>) => Promise<void>,
): Promise<void> => {
  const word = `stopping-${process.pid}`;
  const script = `sleep 300 & sh -c 'trap "" TERM; while :; do sleep 1; done' ${word}-deaf`;
  const argv = ['sh', '-c', `${script} & sleep 300`, word];
  stage.model.script(says({ toolCalls: [call('shell_run', { argv })] }));
  const { id } = await stage.spawn({ prompt: 'Wait for me.' });
  await untilAtLeast(async () => running(word), 2);
  await measured(async () => {
    const { body } = await stage.ask('POST', `/api/agents/${id}/stop`);
    expect(body.status).to.equal('stopped');
    await untilMatches(async () => running(word), { length: 0 });
  });
  expect((await stage.agent(id)).status).to.equal('stopped');
  expect(stage.model.asked.length).to.equal(1);
};
