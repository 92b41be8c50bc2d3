import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { call } from '../../agents/stage.js';
import { until } from '../../harness/app.js';
import { says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { seedRun } from '../../harness/template.js';
import { start } from '../harness.js';
import { openModelWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const lines = (text: string): string[] => text.trimEnd().split('\n');

describe('approvals', () => {
  const world = openForSuite(lab, openModelWorld);
  let id: string;
  let digest: string;
  beforeEach(async () => {
    const post = call('http_request', {
      method: 'POST',
      url: 'http://127.0.0.1:9/',
      body: 'npm test \u202egnp.exe two\nlines',
    });
    world.model.script(says({ toolCalls: [post] }), says({ text: 'Done.' }));
    await world.client.agents.spawn({ body: { prompt: 'Post it' } });
    const [one] = await until(
      async () => (await world.client.approvals.list({ query: { status: 'pending' } })).approvals,
      (found) => found.length > 0,
    );
    id = one?.id ?? '';
    digest = one?.digest ?? '';
  });

  const shown = (words: string[], more = {}) => world.cli(['approvals', ...words], more);
  const statusOf = async (): Promise<string> => (await world.client.approvals.get({ id })).status;

  it('lists what waits, and shows the call whole, with what cannot be seen', async () => {
    const { stdout } = await shown(['list', '--status', 'pending', '--fields', 'id,call,trust']);
    expect(stdout).to.equal(`${id}\thttp.request\ttrusted\n`);
    const call = await shown(['get', digest.slice(0, 8)], { terminal: 80 });
    expect(call.stdout).to.contain(`http.request    digest ${digest.slice(0, 8)}    trusted`);
    expect(call.stdout).to.contain('  body  npm test \\u202egnp.exe two\n    lines\n');
    expect(call.stdout).to.match(/Not run yet\. Denied at /);
    await shown(['deny', id]);
  });

  it('lists pending ones, and decided ones with a switch or a status', async () => {
    const ids = async (...words: string[]) =>
      lines((await shown(['list', '--output', 'id', ...words])).stdout);
    expect(await ids()).to.equal([id]);
    await shown(['deny', id]);
    expect(await ids()).to.equal(['']);
    for (const words of [['--decided'], ['--status', 'denied'], ['--decided', '--all']]) {
      expect(await ids(...words), words.join(' ')).to.include(id);
    }
    const table = await shown(['list', '--decided'], { terminal: 100 });
    expect(lines(table.stdout)[1]).to.match(/denied +decided /);
    expect(table.stderr).to.equal('No pending approvals.\n');
  });

  it('tells of the stages of pipelines that wait where no call does', async () => {
    await shown(['deny', id]);
    const list = () => shown(['list', '--status', 'pending'], { terminal: 100 });
    const none = 'No pending approvals. Decided ones: adjutant approvals list --decided\n';
    expect((await list()).stderr).to.equal(none);
    const { token } = await world.arrive();
    await seedRun(world.app, token, 'one');
    const stage = (word: string) => `${none}${word}: adjutant pipelines list --status waiting\n`;
    expect((await list()).stderr).to.equal(stage('1 pipeline stage is waiting'));
    await seedRun(world.app, token, 'two');
    expect((await list()).stderr).to.equal(stage('2 pipeline stages are waiting'));
    world.admin();
  });

  it('approves what it has shown, after a question', async () => {
    const asked = await shown(['approve', digest.slice(0, 8)], { terminal: 80, answers: ['y'] });
    expect(asked.stderr).to.contain(`Approve http.request ${digest.slice(0, 8)} exactly as shown?`);
    expect(asked.stderr).to.contain('gnp.exe');
    expect([asked.code, await statusOf()]).to.equal([0, 'approved']);
  });

  it('approves nothing by enter alone, nor without a terminal', async () => {
    const entered = await shown(['approve', id], { terminal: 80, answers: [''] });
    expect([entered.code, await statusOf()]).to.equal([1, 'pending']);
    const piped = await shown(['approve', id]);
    expect([piped.code, await statusOf()]).to.equal([2, 'pending']);
    const meant = await shown(['approve', id, '--yes']);
    expect([meant.code, await statusOf()]).to.equal([0, 'approved']);
  });

  it('lets an approval stand, lists what stands and revokes it', async () => {
    const whole = await shown(['get', digest.slice(0, 8)], { terminal: 80 });
    expect(whole.stdout).to.contain('To also approve later calls: --scope conversation or host');
    const wrong = await shown(['approve', id, '--scope', 'forever', '--yes']);
    expect([wrong.code, await statusOf()]).to.equal([2, 'pending']);
    const words = ['approve', id, '--scope', 'host'];
    const asked = await shown(words, { terminal: 80, answers: ['y'] });
    expect(asked.stderr).to.contain(
      'later calls of this tool to this host, port and method for 30 days?',
    );
    expect([asked.code, await statusOf()]).to.equal([0, 'approved']);
    const { stdout } = await shown(['grants', 'list', '--fields', 'call,scope,method,origin,path']);
    expect(stdout).to.equal('http.request\thost\tPOST\thttp://127.0.0.1:9\t/\n');
    const [grant] = (await world.client.grants.list()).grants;
    const [head, row] = lines((await shown(['grants', 'list'], { terminal: 100 })).stdout);
    expect(head).to.match(/^SHORT +CALL +SCOPE +ORIGIN +FOR +METHOD/);
    const short = grant?.id.slice(-6) ?? '';
    expect(row).to.match(
      new RegExp(`^${short} +http\\.request +host +http://127\\.0\\.0\\.1:9 +Post it +POST`),
    );
    const gone = await shown(['grants', 'delete', short, '--yes']);
    expect([gone.code, (await world.client.grants.list()).grants]).to.equal([0, []]);
  });

  it('denies with a reason, and says who was first', async () => {
    const { code } = await shown(['deny', digest.slice(0, 8), 'Not now']);
    expect([code, await statusOf()]).to.equal([0, 'denied']);
    expect((await world.client.approvals.get({ id })).decisionReason).to.equal('Not now');
    const late = await shown(['approve', id, '--yes']);
    expect([late.code, lines(late.stderr).at(-2)]).to.match(/1,The approval was already denied at/);
  });

  it('tells in a pipe what is asked and what is answered', async () => {
    const watch = start(['approvals', 'watch', '--server', world.app.url, '--json']);
    expect(JSON.parse(await watch.line())).to.include({ id, status: 'pending' });
    await shown(['deny', id]);
    expect(JSON.parse(await watch.line())).to.include({ id, status: 'denied' });
    watch.interrupt();
    expect(await watch.ended).to.equal(130);
  });
});
