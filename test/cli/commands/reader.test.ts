import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('what a hint says', () => {
  const world = openForSuite(lab, openWorld);

  it('names the verb that lists where something is not found', async () => {
    for (const named of ['nope', `readertask_${'0'.repeat(26)}`]) {
      const { stderr } = await world.cli(['reader', 'show', named]);
      expect(stderr).to.include('List them: adjutant reader tasks\n');
    }
  });

  it('is not needed for the name of a login, which is an argument or a flag', async () => {
    const words = ['login', '--password-file', '-'];
    const named = await world.cli([...words, '--username', 'ada'], { stdin: PASSWORD });
    expect([named.code, named.stderr.split(' at ')[0]]).to.equal([
      0,
      'Logged in as ada, the admin',
    ]);
    const twice = await world.cli([...words, 'ada', '--username', 'ada'], { stdin: PASSWORD });
    expect([twice.code, twice.stderr.includes('was passed twice')]).to.equal([2, true]);
  });
});
