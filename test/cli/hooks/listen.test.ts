import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Started, start } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** The next run that has ended, leaving out what came before its end. */
const ended = async (listening: Started): Promise<string[]> => {
  for (;;) {
    const values = (await listening.line()).split('\t');
    if (values[1] === 'success') return values;
  }
};

describe('hooks listen', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
    for (const name of ['one', 'two']) {
      const trigger = ['--trigger', 'webhook', '--webhook-path', name];
      const action = ['--action', 'notify', '--notify-message', 'x'];
      await world.cli(['hooks', 'create', '--name', name, ...trigger, ...action]);
    }
  });
  after(() => world.stop());

  const fire = async (name: string): Promise<string> =>
    (await world.cli(['hooks', 'test', name, '--output', 'id'])).stdout.trim();

  it('tells the runs of all hooks, through a restart, until ^C', async () => {
    const listening = start(['hooks', 'listen', '--server', world.app.url]);
    expect(await listening.note()).to.equal(
      'Listening to all hooks, no execution yet. ^C exits; executions continue.',
    );
    await world.app.restart({ port: Number(new URL(world.app.url).port) });
    expect(await listening.note()).to.match(
      /^-- lost the connection to the daemon .*, reconnecting --$/,
    );
    expect(await listening.note()).to.match(/^-- reconnected \S+, 0 caught up, none missing --$/);
    const run = await fire('one');
    const [, , , , id, name] = await ended(listening);
    expect([id, name]).to.equal([run, 'one']);
    listening.interrupt();
    expect(await listening.note()).to.equal('1 execution: 1 success');
    expect(await listening.ended).to.equal(130);
  });

  it('tells the runs of one hook alone, whole with --json', async () => {
    const listening = start(['hooks', 'listen', 'two', '--json', '--server', world.app.url]);
    await listening.note();
    await fire('one');
    const run = await fire('two');
    const told = JSON.parse(await listening.line());
    expect([told.id, told.triggerContext.webhook.path]).to.equal([run, 'two']);
    listening.interrupt();
    expect(await listening.ended).to.equal(130);
  });
});
