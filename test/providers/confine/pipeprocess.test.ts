import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { bubblewrap } from '../../../src/providers/confine/bubblewrap.js';
import {
  type ConfinedProcess,
  ConfinementFailed,
} from '../../../src/providers/confine/confinement.js';
import { holds } from '../../../src/providers/confine/find.js';
import { unconfined } from '../../../src/providers/confine/unconfined.js';
import { type Ground, ground, processesWith, until } from './ground.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const hardened = { skip: !(await holds(bubblewrap(true))), timeout: 20_000 };

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const line = async ({ stdout }: ConfinedProcess): Promise<string> =>
  String((await once(stdout, 'data'))[0]).trim();

describe('a held process', () => {
  let on: Ground;
  beforeEach(async () => {
    on = await ground();
  });
  afterEach(() => on.clear());

  const command = (argv: string[], readable?: string[]) => ({
    argv,
    folder: on.folder,
    network: false,
    ...(readable && { readable }),
  });

  it(
    'is spoken with until it ends by itself, and says why (needs bubblewrap)',
    hardened,
    async () => {
      const script = 'while read line; do echo "heard $line"; done; echo no more >&2; exit 3';
      const held = await bubblewrap(true).hold(command(['sh', '-c', script]));
      held.stdin.write('one\n');
      expect(await line(held)).to.equal('heard one');
      held.stdin.write('two\n');
      expect(await line(held)).to.equal('heard two');
      held.stdin.end();
      expect(await held.ended).to.equal('it ended with code 3: no more');
    },
  );

  it('is killed with all that it started (needs bubblewrap)', hardened, async () => {
    const mark = `held-${process.pid}`;
    const script = `(sh -c 'sleep 1000; echo ${mark}' &) ; echo up; sleep 1000; echo ${mark}`;
    const held = await bubblewrap(true).hold(command(['sh', '-c', script]));
    await line(held);
    held.kill();
    expect(await held.ended).to.equal('it was ended by SIGKILL');
    await until(async () => (await processesWith(mark)).length === 0);
    held.kill();
  });

  it('is killed at once, and leaves nothing behind (needs bubblewrap)', hardened, async () => {
    const mark = `started-${process.pid}`;
    const held = await bubblewrap(true).hold(command(['sh', '-c', `sleep 1000; echo ${mark}`]));
    held.kill();
    expect(await held.ended).to.equal('it was ended by SIGKILL');
    expect(await processesWith(mark)).to.equal([]);
  });

  it('reads what it may, and nothing beside it (needs bubblewrap)', hardened, async () => {
    const programs = join(dirname(dirname(on.folder)), 'programs');
    await mkdir(programs);
    await writeFile(join(programs, 'tool'), 'the tool');
    const script = `cat tool; echo; cat ../keys/master.key; touch new; ls ..`;
    const argv = ['sh', '-c', `cd ${programs}; (${script}) 2>&1`];
    const held = await bubblewrap(true).hold(command(argv, [programs]));
    const said: string[] = [];
    held.stdout.on('data', (piece) => said.push(String(piece)));
    await held.ended;
    expect(said.join('').split('\n')).to.equal([
      'the tool',
      'cat: ../keys/master.key: No such file or directory',
      "touch: cannot touch 'new': Read-only file system",
      'agents',
      'programs',
      '',
    ]);
  });

  it('is refused a readable folder that holds its own, or all of the machine', async () => {
    for (const readable of ['/', dirname(on.folder), 'relative', '/nowhere']) {
      const refused = await bubblewrap(true)
        .hold(command(['true'], [readable]))
        .catch((error: unknown) => error);
      expect(refused).to.be.instanceof(ConfinementFailed);
    }
  });

  it('that cannot be started is a failure', async () => {
    await expect(unconfined().hold(command(['no-such-program']))).to.reject(
      ConfinementFailed,
      'no-such-program cannot be started: ENOENT',
    );
  });
});
