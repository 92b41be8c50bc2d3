import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { writeIn } from '../../cli/editor.js';
import { until } from '../harness/app.js';
import { openEditor } from './editor.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MODULE = new URL('../../cli/editor.js', import.meta.url).href;
const SCRIPT = `import('${MODULE}').then(({ writeIn }) => writeIn('draft.md', 'a draft'))`;
/** Says where the file is, and who it is, and stays. */
const SLOW = 'f() { echo "$$ $1"; exec sleep 60; }; f';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('editor', () => {
  it('runs what the variable says as a shell does, and hands on the text as it is', async () => {
    const editor = await openEditor();
    try {
      process.env.VISUAL = 'A="1 2" sh -c \'printf "%s" "$A" >> "$1"\' sh';
      const text = 'ünï\n\u0000\u001b[2J "$HOME" `id`';
      expect(await writeIn('a.md', text)).to.equal({ is: 'written', text: `${text}1 2` });
    } finally {
      await editor.close();
    }
  });

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    it(`leaves nothing behind after ${signal}, neither file nor program`, async () => {
      const env = { ...process.env, VISUAL: SLOW };
      const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe'];
      const child = spawn(process.execPath, ['-e', SCRIPT], { env, stdio });
      const ended = once(child, 'exit');
      const [line] = await once(createInterface({ input: child.stderr }), 'line');
      const [pid = '', file = ''] = String(line).split(' ');
      expect(existsSync(file)).to.be.true();
      child.kill(signal);
      expect((await ended)[0]).to.equal(code);
      expect(existsSync(dirname(file))).to.be.false();
      expect(
        await until(
          async () => isAlive(Number(pid)),
          (alive) => !alive,
        ),
      ).to.be.false();
    });
  }
});
