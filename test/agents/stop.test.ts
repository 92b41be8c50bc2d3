import { readdirSync, readFileSync } from 'node:fs';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { says } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

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

describe('stopping an agent whose shell runs', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage({ allowUnconfined: true });
    const body = { skillId: 'shell', action: 'run', level: 'allow' };
    await stage.ask('PUT', '/api/skills/permissions', body);
  });
  after(() => stage.stop());

  const skip = process.platform === 'linux' ? {} : { skip: true };

  it('ends the program and all that it started', skip, async () => {
    const word = `stopping-${process.pid}`;
    const script = `sleep 300 & sh -c 'trap "" TERM; while :; do sleep 1; done' ${word}-deaf`;
    const argv = ['sh', '-c', `${script} & sleep 300`, word];
    stage.model.script(says({ toolCalls: [call('shell_run', { argv })] }));
    const { id } = await stage.spawn({ prompt: 'Wait for me.' });
    await until(
      async () => running(word),
      ({ length }) => length >= 2,
    );
    const { body } = await stage.ask('POST', `/api/agents/${id}/stop`);
    expect(body.status).to.equal('stopped');
    await until(
      async () => running(word),
      ({ length }) => length === 0,
    );
    expect((await stage.agent(id)).status).to.equal('stopped');
    expect(stage.model.asked.length).to.equal(1);
  });
});
