import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../../harness/app.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('notifications', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
    const trigger = ['--trigger', 'webhook', '--webhook-path', 'in'];
    const action = ['--action', 'notify', '--notify-message', 'Something came'];
    await world.cli(['hooks', 'create', '--name', 'in', ...trigger, ...action]);
    await world.cli(['hooks', 'test', 'in']);
    await world.cli(['hooks', 'test', 'in']);
    await untilMatches(() => world.client.notifications.list(), { unreadCount: 2 });
  });
  after(() => world.stop());

  it('are listed, read one by one and all at once', async () => {
    const states = async (...words: string[]) =>
      (await world.cli(['notif', 'ls', '--fields', 'state,title', ...words])).stdout;
    expect(await states()).to.equal('new\tin\nnew\tin\n');
    const [id = ''] = (await world.cli(['notif', 'ls', '--output', 'id'])).stdout.split('\n');
    const one = await world.cli(['notifications', 'read', id.slice(-6)], { terminal: 80 });
    expect([one.code, one.stderr]).to.equal([0, 'Marked as read: in: Something came\n']);
    expect(await states('--unread')).to.equal('new\tin\n');
    expect((await world.cli(['notifications', 'read-all', '--json'])).stdout).to.equal(
      '{"read":1}\n',
    );
    const none = await world.cli(['notifications', 'list', '--unread'], { terminal: 80 });
    expect([none.code, none.stdout, none.stderr]).to.equal([0, '', 'No notifications.\n']);
  });

  it('say where they were sent', async () => {
    const [id = ''] = (await world.cli(['notif', 'ls', '--output', 'id'])).stdout.split('\n');
    const short = id.slice(-6);
    expect(await world.cli(['notifications', 'sendings', short], { terminal: 80 })).to.equal({
      code: 0,
      stdout: '',
      stderr: 'It was sent to no channel.\n',
    });
    const reply = await world.cli(['notifications', 'sendings', short, '--json']);
    expect(JSON.parse(reply.stdout)).to.equal({ sendings: [] });
  });
});
