import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Machine, newMachine, printed } from './machine.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const STEPS = ['daemon', 'account', 'hook', 'delivery', 'agent', 'execution', 'notice', 'again'];

describe('demo', () => {
  let machine: Machine;
  before(async () => {
    machine = await newMachine();
  });
  after(() => machine.clear());

  it('proves the main job and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await machine.run(['demo', '--json']);
    expect({ code, stderr }).to.equal({ code: 0, stderr: '' });
    const { steps }: { steps: { name: string; said: string[] }[] } = JSON.parse(stdout);
    expect(steps.map(({ name }) => name)).to.equal(STEPS);
    expect(steps.find(({ name }) => name === 'agent')?.said.slice(0, 2)).to.equal([
      'completed: 1 step, 4 events, model digest',
      'issues.opened in octo/app: "Login loops back to the start page" (#412) by mona',
    ]);
    expect(machine.leftovers()).to.equal([]);
  });

  it('takes none of the user’s settings', async () => {
    const settings = { ADJUTANT_REGISTRATION: 'closed', ADJUTANT_HOST: '0.0.0.0' };
    const { code, stdout } = await machine.run(['demo'], settings);
    expect(code).to.equal(0);
    const lines = stdout.split('\n');
    expect(lines[0]).to.match(/^ {2}daemon +\S+ m?s {2}ready at http:\/\/127\.0\.0\.1:\d+$/);
    expect(lines.at(-2)).to.match(/^Demo passed in \S+ m?s\. The temporary home was deleted\.$/);
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`ends its daemon and leaves nothing behind on ${signal}`, async () => {
      const child = machine.start(['demo']);
      const url = /http:\S+/.exec(await printed(child, '\n'))?.[0] ?? '';
      child.kill(signal);
      const [[code]] = await Promise.all([once(child, 'exit'), child.stderr && text(child.stderr)]);
      expect(code).to.equal(130);
      await expect(fetch(url)).to.reject(TypeError);
      expect(machine.leftovers()).to.equal([]);
    });
  }
});
