import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { edited } from '../../store/audit/ledger.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('audit', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
    await world.cli([
      'hooks',
      'create',
      '--name',
      'in',
      '--trigger',
      'webhook',
      '--webhook-path',
      'in',
      '--action',
      'notify',
      '--notify-message',
      'It came',
    ]);
    await world.cli(['hooks', 'rotate-secret', 'in', '--yes']);
  });
  after(() => world.stop());

  it('lists who did what, from where and how it ended', async () => {
    const { stdout, code } = await world.cli(['audit', 'list'], { terminal: 120 });
    const lines = stdout.trimEnd().split('\n');
    expect([code, lines.length]).to.equal([0, 3]);
    expect(lines[0]).to.match(/^AT +ACTOR +ACTION +TARGET +OUTCOME +IP$/);
    expect(lines[1]).to.match(
      /^\d\d:\d\d:\d\d +ada +hooks\.rotate-secret +hook [0-9a-z]{6} +ok +127\.0\.0\.1$/,
    );
    expect(lines[2]).to.match(/ ada +auth\.register +user [0-9a-z]{6} +ok /);
  });

  it('is filtered, and whole in a pipe', async () => {
    const words = ['audit', 'list', '--action', 'auth.register'];
    const { stdout } = await world.cli([...words, '--fields', 'actor,action,number,data']);
    expect(stdout).to.equal('ada\tauth.register\t1\t{"username":"ada"}\n');
    const none = await world.cli(['audit', 'list', '--action', 'x'], { terminal: 80 });
    expect([none.stdout, none.stderr]).to.equal(['', 'No matching entries.\n']);
  });

  it('says that the chain is unbroken', async () => {
    const { code, stdout, stderr } = await world.cli(['audit', 'verify'], { terminal: 80 });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^\d+ entries, unbroken\n$/);
    expect(stderr).to.match(/^Head: \d+ [0-9a-f]{64}\n$/);
  });

  it('says where it is broken, and exits with 1', async () => {
    await world.app.app.close();
    edited(world.app.home, (db) => db.exec(`UPDATE audit SET ip = '10.0.0.9' WHERE number = 2`));
    await world.app.restart({ port: Number(new URL(world.app.url).port) });
    const shown = await world.cli(['audit', 'verify'], { terminal: 80 });
    expect([shown.code, shown.stdout]).to.equal([1, 'changed at entry 2: Entry 2 was changed\n']);
    const piped = await world.cli(['audit', 'verify', '--fields', 'ok,number,kind']);
    expect([piped.code, piped.stdout]).to.equal([1, 'false\t2\tchanged\n']);
    const json = await world.cli(['audit', 'verify', '--json']);
    expect([json.code, JSON.parse(json.stdout).problem.number]).to.equal([1, 2]);
  });
});
