import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

/** As no JSON writer would write it; `$&` and `$1` mean something to a replacement. */
const ODD = ' {"n" : 1.0e0, "t": "$& $1 \\u00e9" ,"big":12345678901234567890}\n';

describe('a run', () => {
  it('shows the payload as it was received, in every reply', async () => {
    const id = await desk.hook(onPath('odd'));
    await desk.deliver('odd', ODD);
    const [run] = await desk.ended(id);
    const get = (path: string) => desk.ask('GET', `/api/hooks/${path}`);
    const page = await get(`${id}/executions`);
    const one = await get(`${id}/executions/${run.id}`);
    const all = await get('executions?after=execution_0');
    const replayed = await desk.ask('POST', `/api/hooks/${id}/executions/${run.id}/replay`, {});
    expect([page, one, all, replayed].map(({ status }) => status)).to.equal([200, 200, 200, 202]);
    for (const { text, headers } of [page, one, all, replayed]) {
      expect(text).to.include(`"body":${ODD}`);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    }
    expect(page.body).to.equal({ executions: [one.body], nextCursor: null });
    expect(all.body).to.equal({ executions: [one.body], lastId: run.id });
  });

  it('is replied the same to a repeated Idempotency-Key', async () => {
    const id = await desk.hook(onPath('key'));
    await desk.deliver('key', ODD);
    const [run] = await desk.ended(id);
    const replay = () =>
      desk.test.call('POST', `/api/hooks/${id}/executions/${run.id}/replay`, {
        token: desk.owner.token,
        body: {},
        headers: { 'idempotency-key': 'k-1' },
      });
    const first = await replay();
    const again = await replay();
    expect(again.headers['idempotent-replayed']).to.equal('true');
    expect([again.status, again.text]).to.equal([first.status, first.text]);
    expect(await desk.ended(id, 2)).to.have.length(2);
  });
});
