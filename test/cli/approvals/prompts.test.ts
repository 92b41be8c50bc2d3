import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openApprovalPrompts } from '../../../cli/approvals/approval.js';
import { Context } from '../../../cli/command.js';
import type { Approval } from '../../../src/client/index.js';
import { call } from '../../agents/stage.js';
import { until } from '../../harness/app.js';
import { type Reply, says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import { openModelWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, before } = lab;

/** Posts its prompt, and is content with whatever comes of it. */
const posts: Reply = (response, request) => {
  const { role, content } = request.messages.at(-1) ?? {};
  const args = { method: 'POST', url: 'http://127.0.0.1:9/', body: content };
  const toolCalls = [call('http_request', args)];
  says(role === 'tool' ? { text: 'Done.' } : { toolCalls })(response, request);
};

describe('the desk of approvals watch', () => {
  const world = openForSuite(lab, openModelWorld);
  before(() => world.model.script(...Array.from({ length: 20 }, () => posts)));

  const asked = async (body: string): Promise<Approval> => {
    const { id: agentId } = await world.client.agents.spawn({ body: { prompt: body } });
    const query = { status: 'pending', agentId } as const;
    const [one] = await until(
      async () => (await world.client.approvals.list({ query })).approvals,
      (found) => found.length === 1,
    );
    if (!one) throw new Error('None');
    return one;
  };
  const statusOf = async ({ id }: Approval) => (await world.client.approvals.get({ id })).status;

  const sit = () => {
    const face = { isTTY: true, columns: 100 };
    const streams = {
      stdin: Object.assign(new PassThrough(), face),
      stdout: Object.assign(new PassThrough(), face),
      stderr: Object.assign(new PassThrough(), face),
    };
    let shown = '';
    for (const stream of [streams.stdout, streams.stderr]) {
      stream.on('data', (piece: Buffer) => {
        shown += piece;
      });
    }
    const at = { command: 'approvals watch', flagOf: (path: string) => path };
    const desk = openApprovalPrompts(
      new Context(streams, { server: world.app.url }, at),
      world.client,
    );
    return {
      ...desk,
      type: (line: string) => streams.stdin.write(`${line}\n`),
      shows: (text: string | RegExp) =>
        until(
          async () => shown,
          (all) => (typeof text === 'string' ? all.includes(text) : text.test(all)),
        ),
    };
  };

  it('denies by number, with what follows as the reason', async () => {
    const [one, two] = [await asked('one'), await asked('two')];
    const desk = sit();
    desk.tell(one);
    desk.tell(two);
    await desk.shows(/\[1\] http\.request {2}agent \w{6} {2}trusted {2}in .*\[2\] http\.request/s);
    desk.type('d2 not today');
    await desk.shows('[2] denied');
    expect([await statusOf(one), await statusOf(two)]).to.equal(['pending', 'denied']);
    desk.type('d1');
    await desk.shows('[1] denied');
    desk.close();
  });

  it('approves what it has shown whole, and nothing by enter alone or a paste', async () => {
    const one = await asked('whole\ncall');
    const desk = sit();
    desk.tell(one);
    for (const line of ['', 'y', 'a', 'a7', 'yes please']) desk.type(line);
    await desk.shows(/a1 approve.*a1 approve.*a1 approve/s);
    desk.type('a1\ny');
    await desk.shows('exactly as shown? [y/N]');
    await desk.shows('    call\n');
    await desk.shows('Read the call first.');
    desk.type('');
    await desk.shows('No decision was made.');
    expect(await statusOf(one)).to.equal('pending');
    desk.type('a1');
    await until(
      async () => {
        desk.type('y');
        return statusOf(one);
      },
      (status) => status === 'approved',
    );
    await desk.shows('[1] approved');
    desk.close();
  });

  it('lets an approval stand, in a scope that is offered', async () => {
    const one = await asked('to stand');
    const desk = sit();
    desk.tell(one);
    desk.type('a1 forever');
    await desk.shows('Scope must be one of once, conversation, host');
    desk.type('a1 conversation');
    await desk.shows(/later calls of this tool to this host in this\sconversation\?\s\[y\/N\]/);
    await until(
      async () => {
        desk.type('y');
        return statusOf(one);
      },
      (status) => status === 'approved',
    );
    const [grant] = (await world.client.grants.list()).grants;
    expect(grant).to.include({ scope: 'conversation', approvalId: one.id });
    desk.close();
  });

  it('says who was first', async () => {
    const one = await asked('late');
    const desk = sit();
    desk.tell(one);
    await world.client.approvals.approve({ body: { approvalId: one.id, approved: false } });
    desk.type('d1');
    await desk.shows('The approval was already denied at');
    desk.close();
  });
});
