import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { seedMailAccount } from '../../harness/mail/account.js';
import { openForSuite } from '../../harness/suite.js';
import { start } from '../harness.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('adjutant status', () => {
  const world = openForSuite(lab, openWorld);

  it('tells at a glance how it stands, to those who are logged in', async () => {
    const { code, stdout } = await world.cli(['status'], { terminal: 100 });
    const [head, ready, models, work, today, ...ill] = stdout.trimEnd().split('\n');
    expect(code).to.equal(0);
    expect(head).to.match(/^Adjutant \S+ {2}running .+ {2}http:\/\//);
    expect(ready).to.match(/^ready yes {3}queue 0 {3}running 0 of \d+ {3}approvals 0 waiting$/);
    expect(models).to.match(/^models 1 ok {3}disk [\d.]+ GiB free$/);
    expect(work).to.equal('pipelines 0 open, 0 waiting for you   recurring 0 enabled');
    expect(today).to.equal('today 0 executions, 0 agents, $0.00 of $10.00');
    expect(ill.filter((line) => !line.includes('confinement'))).to.equal([]);
  });

  it('tells a pipe what it tells a terminal', async () => {
    const { code, stdout } = await world.cli(['status']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    const { version } = await world.client.health.get();
    const { parts } = await world.client.health.detailed();
    const [daemon, ...others] = rows;
    expect(`${daemon?.[2]}`).to.startWith(`Adjutant ${version}, running `);
    expect(`${daemon?.[2]}`).to.endWith(world.app.url);
    const own = others.slice(0, 7).map(([name, status, detail]) => `${name} ${status} ${detail}`);
    expect(own.map((line) => line.replace(/ of \d+$/, ' of n'))).to.equal([
      'ready ok ',
      'waiting ok 0',
      'running ok 0 of n',
      'approvals ok 0 waiting',
      'pipelines ok 0 open, 0 waiting for you',
      'recurring ok 0 enabled',
      'today ok 0 executions, 0 agents, $0.00 of $10.00',
    ]);
    expect(others.slice(7).map(([name]) => name)).to.equal(parts.map(({ name }) => name));
    expect(code).to.equal(0);
  });

  it('counts the mailboxes, and shows the error of one that fails', async () => {
    const { token } = await world.arrive();
    const { id, address } = await seedMailAccount(world.app, token);
    await seedMailAccount(world.app, token);
    const fails = { status: 'failing', error: 'the server\u001bhangs' } as const;
    const update = world.app.app.store.db.updateTable('mail_accounts').set(fails);
    await update.where('id', '=', id).execute();
    const { stdout } = await world.cli(['status'], { terminal: 200 });
    expect(stdout).to.contain('   mailboxes 2, 0 watched, 1 failing\n');
    expect(stdout).to.contain(
      `WARN  mailbox ${address}: the account fails, the server\\x1bhangs: adjutant email accounts test ${id.slice(-6)}\n`,
    );
    expect((await world.cli(['status'])).stdout).to.contain(
      '\nmailboxes\twarn\t2, 0 watched, 1 failing\n',
    );
    world.admin();
  });

  it('gives a machine the overview as it came', async () => {
    const { stdout } = await world.cli(['status', '--json']);
    const { overview, ready } = JSON.parse(stdout);
    const {
      at: _at,
      uptimeSeconds: _up,
      parts: _parts,
      ...own
    } = await world.client.overview.get();
    expect(ready).to.be.true();
    expect(overview).to.include({ version: own.version, today: own.today, queue: own.queue });
  });

  it('keeps the parts to their names where a login has ended', async () => {
    const { code, stderr } = await world.cli(['status', '--server-token', 'ended'], {
      terminal: 100,
    });
    expect([code, stderr.includes('For details, log in: adjutant login')]).to.equal([0, true]);
  });

  it('is told again and again with --watch, until ^C', async () => {
    const cli = start(['status', '--watch', '--json', '--server', world.app.url]);
    for (const _time of [1, 2]) expect(JSON.parse(await cli.line()).state).to.equal('running');
    cli.interrupt();
    expect(await cli.ended).to.equal(130);
  });
});
