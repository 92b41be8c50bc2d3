import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('sessions', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
    const { id } = await world.client.agents.spawn({ body: { prompt: 'Hello\u001b[2J' } });
    await world.cli(['agents', 'wait', id]);
  });
  after(() => world.stop());

  const fields = async (...words: string[]) => (await world.cli(['sessions', ...words])).stdout;

  it('are listed and shown', async () => {
    const id = (await fields('list', '--output', 'id')).trim();
    expect(await fields('get', id.slice(-6), '--fields', 'id,channel,messages')).to.equal(
      `${id}\tapi\t2\n`,
    );
  });

  it('show their messages, oldest first, and obey none of what is in them', async () => {
    const id = (await fields('list', '--output', 'id')).trim();
    expect(await fields('messages', id, '--limit', '1', '--fields', 'role,content')).to.equal(
      'user\tHello\\x1b[2J\n',
    );
    expect(await fields('messages', id, '--limit', '1', '--all', '--fields', 'role')).to.equal(
      'user\nassistant\n',
    );
    const { stdout } = await world.cli(['sessions', 'messages', id], { terminal: 80 });
    expect(stdout).to.match(/^user {2}\d\d:\d\d:\d\d\n {2}Hello\\x1b\[2J\n\nassistant {2}/);
  });

  it('say where to begin where there are none', async () => {
    const { stderr } = await world.cli(['sessions', 'list', '--channel', 'none'], { terminal: 80 });
    expect(stderr).to.equal('No conversations yet. Start one: adjutant agents spawn "Say hello"\n');
  });
});
