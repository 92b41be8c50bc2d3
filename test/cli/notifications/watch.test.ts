import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { inside } from '../../harness/inside.js';
import { type Started, start } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('notifications watch', () => {
  let world: World;
  let userId: string;
  before(async () => {
    world = await openWorld();
    ({ id: userId } = await world.client.auth.me());
  });
  after(() => world.stop());

  const say = (title: string): Promise<void> =>
    inside(world.app.app).outbox.send(userId, {
      ...{ kind: 'hook_notice', title, body: 'A body', link: null },
    });
  const told = async (watching: Started, count: number): Promise<string[]> => {
    const titles: string[] = [];
    for (let n = 0; n < count; n++) titles.push((await watching.line()).split('\t')[2] ?? '');
    return titles;
  };

  it('tells what comes once each, through a restart, until ^C', async () => {
    await say('Before');
    const watching = start(['notifications', 'watch', '--server', world.app.url]);
    expect(await watching.note()).to.equal('Listening, 1 unread. ^C exits.');
    for (const n of [1, 2, 3]) await say(`Live ${n}`);
    expect(await told(watching, 3)).to.equal(['Live 1', 'Live 2', 'Live 3']);
    await world.app.restart({ port: Number(new URL(world.app.url).port) });
    const missed = Array.from({ length: 250 }, (_, n) => `Missed ${n}`);
    for (const title of missed) await say(title);
    expect(await watching.note()).to.match(
      /^-- lost the connection to the daemon .*, reconnecting --$/,
    );
    expect(await watching.note()).to.match(/^-- reconnected \S+, \d+ caught up, none missing --$/);
    expect(await told(watching, 250)).to.equal(missed);
    await say('Live again');
    expect(await told(watching, 1)).to.equal(['Live again']);
    watching.interrupt();
    expect(await watching.note()).to.match(/^254 printed\. List them: /);
    expect(await watching.ended).to.equal(130);
  });

  it('tells one notification a line with --json', async () => {
    const watching = start(['notifications', 'watch', '--json', '--server', world.app.url]);
    await watching.note();
    await say('Whole');
    const notice = JSON.parse(await watching.line());
    const { notifications } = await world.client.notifications.list({ query: { limit: 1 } });
    expect([notice]).to.equal(notifications);
    watching.interrupt();
    expect(await watching.ended).to.equal(130);
  });
});
