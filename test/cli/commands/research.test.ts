import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../../harness/app.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('research start --follow', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
    const body = { text: 'The bridge of Alton is closed.' };
    const { id } = await world.client.knowledge.create({ body });
    await untilMatches(() => world.client.knowledge.get({ id }), { status: 'ready' });
  });
  after(() => world.stop());

  const start = (...more: string[]) =>
    world.cli(['research', 'start', 'Is the bridge closed?', '--sources', 'knowledge', ...more]);

  it('tells each step, and prints the report alone on stdout', async () => {
    const { code, stdout, stderr } = await start('--follow');
    expect([code, stdout.startsWith('# '), stdout.includes('Alton is closed.')]).to.equal([
      0,
      true,
      true,
    ]);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.length).to.be.above(0);
    expect(new Set(lines).size).to.equal(lines.length);
  });

  it('prints the whole job as JSON', async () => {
    const { code, stdout } = await start('--json');
    expect([code, JSON.parse(stdout).status]).to.equal([0, 'completed']);
  });
});
