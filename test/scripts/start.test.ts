import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Clone, cloneProject, ended } from '../harness/clone.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const START = ['scripts/start.js'];
/** Stands in for the command line: a proof that can fail or hang, and a daemon that says so. */
const CLI = `
export const main = async ([, , command, ...args]: string[]): Promise<void> => {
  if (command === 'serve') process.once('SIGTERM', () => process.exit(7));
  console.log(command, ...args);
  const hang = setInterval(() => undefined, 1000);
  if (command === 'demo' && process.env['HANG'] === undefined) {
    clearInterval(hang);
    process.exitCode = Number(process.env['DEMO'] ?? 0);
  }
};
`;

describe('start', () => {
  let clone: Clone;
  before(async () => {
    clone = cloneProject({ 'cli/main.ts': CLI, 'src/main.ts': 'export {};' });
    await clone.run(['scripts/build.js']);
  });
  after(() => clone.clear());

  it('proves the main job, then becomes the daemon, which gets the signals', async () => {
    const child = clone.start([...START, '--port', '4000']);
    const end = ended(child);
    await printed(child, 'serve');
    child.kill('SIGTERM');
    expect(await end).to.equal({ code: 7, stdout: 'demo\nserve --port 4000\n', stderr: '' });
  });

  it('serves nothing when the proof fails', async () => {
    expect(await clone.run(START, { DEMO: '1' })).to.equal({
      code: 1,
      stdout: 'demo\n',
      stderr: 'adjutant: the demo failed, so the daemon was not started\n',
    });
  });

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    it(`ends with the proof on ${signal}`, async () => {
      const child = clone.start(START, { HANG: '1' });
      const end = ended(child);
      await printed(child, 'demo');
      child.kill(signal);
      expect(await end).to.equal({ code, stdout: 'demo\n', stderr: '' });
    });
  }
});

const printed = async (child: ChildProcess, word: string): Promise<void> => {
  for (let all = ''; !all.includes(word); ) {
    const [chunk] = child.stdout ? await once(child.stdout, 'data') : [word];
    all += String(chunk);
  }
};
