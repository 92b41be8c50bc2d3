import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { anthropic } from '../harness/anthropic.js';
import { until } from '../harness/app.js';
import { google } from '../harness/google.js';
import { ollama } from '../harness/ollama.js';
import { openaiDialects } from '../harness/openai.js';
import { openTarget, type Target } from '../harness/target.js';
import { startDialect, type Wire } from '../harness/wire.js';
import { type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

/** The whole loop over each provider's own wire: what is asked, answered and told. */
for (const dialect of [...openaiDialects.slice(1), anthropic, google, ollama]) {
  describe(`an agent on the wire of ${dialect.provider}`, () => {
    let stage: Stage;
    let wire: Wire;
    let target: Target;
    before(async () => {
      target = await openTarget();
      stage = await startStage({ egressAllow: [target.address] });
      wire = await startDialect(dialect);
      await stage.add('mine', { provider: dialect.provider, baseUrl: wire.baseUrl });
    });
    after(async () => {
      await stage.stop();
      await wire.stop();
      target.close();
    });
    beforeEach(() => {
      wire.asked.length = 0;
      target.received.length = 0;
    });

    const post = (body: string) => ({
      ...{ id: `call_${body}`, name: 'http_request' },
      arguments: JSON.stringify({ method: 'POST', url: `${target.url}/${body}`, body }),
    });
    const now = { id: 'call_now', name: 'time_now', arguments: '{"timezone":"Asia/Tokyo"}' };
    const spawn = async (): Promise<string> =>
      (await stage.ask('POST', '/api/agents', { prompt: 'Do it.', model: 'mine' })).body.id;
    const pending = (agentId: string, count: number) =>
      until(
        async () => {
          const query = `status=pending&agentId=${agentId}`;
          return (await stage.ask('GET', `/api/chat/approvals?${query}`)).body.approvals;
        },
        ({ length }) => length === count,
      );
    const answer = (approvalId: string, approved: boolean) =>
      stage.ask('POST', '/api/chat/approve', { approvalId, approved, reason: 'as I see it' });
    const ended = (id: string) =>
      until(
        async () => (await stage.ask('GET', `/api/agents/${id}`)).body,
        ({ status }) => ['completed', 'failed', 'stopped'].includes(status),
      );
    /** What the model read in its latest request, whatever form that has. */
    const read = (): string => JSON.stringify(wire.asked.at(-1)?.body);

    it('runs what was approved, once, and is told what came of it', async () => {
      wire.script(dialect.says({ toolCalls: [post('one')] }), dialect.says({ text: 'All done.' }));
      target.answer = (response) => response.end('it was taken');
      const id = await spawn();
      const [approval] = await pending(id, 1);
      expect([approval.action, approval.arguments.body]).to.equal(['request', 'one']);
      expect(target.received).to.equal([]);
      await answer(approval.id, true);
      expect(await ended(id)).to.include({ status: 'completed', result: 'All done.' });
      expect(target.received.map(({ method, body }) => [method, body])).to.equal([['POST', 'one']]);
      expect(wire.asked.length).to.equal(2);
      expect(read()).to.contain('it was taken');
    });

    it('runs nothing that was denied, and is told so', async () => {
      wire.script(dialect.says({ toolCalls: [post('two')] }), dialect.says({ text: 'Then not.' }));
      const id = await spawn();
      const [approval] = await pending(id, 1);
      await answer(approval.id, false);
      expect(await ended(id)).to.include({ status: 'completed', result: 'Then not.' });
      expect(target.received).to.equal([]);
      expect(read()).to.contain('Denied by the owner: as I see it. It was not run.');
    });

    it('takes several calls of one answer, each with its own approval and result', async () => {
      const toolCalls = [post('first'), now, post('second'), post('third')];
      wire.script(dialect.says({ text: 'At once.', toolCalls }), dialect.says({ text: 'Mixed.' }));
      target.answer = (response, nth) => response.end(`taken as number ${nth}`);
      const id = await spawn();
      const approvals = await pending(id, 3);
      for (const { id: approvalId, arguments: args } of approvals) {
        await answer(approvalId, args.body !== 'second');
      }
      expect(await ended(id)).to.include({ status: 'completed', result: 'Mixed.' });
      expect(target.received.map(({ body }) => body).sort()).to.equal(['first', 'third']);
      expect(wire.asked.length).to.equal(2);
      const told = read();
      for (const part of ['taken as number 1', 'taken as number 2', 'Asia/Tokyo']) {
        expect(told).to.contain(part);
      }
      expect(told.match(/Denied by the owner/g)?.length).to.equal(1);
    });
  });
}
