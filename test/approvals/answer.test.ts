import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { inside } from '../harness/inside.js';
import { openForSuite } from '../harness/suite.js';
import { openDesk, theOne } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('the answer to an approval', () => {
  const desk = openForSuite(lab, openDesk);
  afterEach(async () => {
    await desk.clear();
    desk.model.asked.length = 0;
    desk.canary.heard.length = 0;
  });

  it('lets the very call run once, and the agent go on', async () => {
    const { id } = await desk.asking();
    const { id: approvalId, digest } = await theOne(desk);
    const { status, body } = await desk.answer(approvalId, true, { digest });
    expect(status).to.equal(200);
    expect(body).to.include({
      status: 'approved',
      decidedAt: '2026-03-01T12:00:00.000Z',
      decidedBy: desk.userId,
    });
    expect(await desk.reaches(id)).to.include({ status: 'completed', result: 'Done.' });
    expect(desk.canary.heard).to.equal([{ method: 'POST', url: '/', body: 'hello' }]);
    const states = (await desk.events(id)).filter(({ type }) => type === 'agent.status');
    expect(states.map(({ data }) => data.status)).to.equal([
      ...['queued', 'running', 'waiting_approval', 'queued', 'running', 'completed'],
    ]);
    const phases = (await desk.events(id)).filter(({ type }) => type === 'agent.tool_call');
    expect(phases.map(({ data }) => [data.phase, data.status ?? data.ok])).to.equal([
      ['approval', 'pending'],
      ['approval', 'approved'],
      ['call', undefined],
      ['result', true],
    ]);
  });

  it('is told to the model with the reason when it is denied', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    const { body } = await desk.answer(approvalId, false, { reason: 'Not on a Sunday' });
    expect(body).to.include({ status: 'denied', decisionReason: 'Not on a Sunday' });
    expect((await desk.reaches(id)).result).to.equal('Done.');
    expect(desk.told()).to.equal(['Denied by the owner: Not on a Sunday. It was not run.']);
    expect(desk.canary.heard).to.equal([]);
  });

  it('is refused with another digest, a wrong one, and for what is not there', async () => {
    await desk.asking();
    const { id, digest } = await theOne(desk);
    const other = digest.replace(/./g, (digit) => (digit === '0' ? '1' : '0'));
    const answers = await Promise.all([
      desk.answer(id, true, { digest: other }),
      desk.answer(id, true, { digest: digest.slice(0, 8) }),
      desk.answer('approval_nowhere', true),
      desk.answer(id, true, { status: 'approved' }),
    ]);
    expect(answers.map(({ status, body }) => [status, body.code])).to.equal([
      [409, 'other_digest'],
      [400, undefined],
      [404, undefined],
      [400, undefined],
    ]);
    expect((await theOne(desk)).status).to.equal('pending');
  });

  it('cannot be seen or answered by another, not even an admin', async () => {
    const stranger = await desk.register(`stranger${desk.model.asked.length}`);
    await desk.asking();
    const { id } = await theOne(desk);
    const body = { approvalId: id, approved: true };
    const { token } = stranger;
    const answered = await desk.call('POST', '/api/chat/approve', { token, body });
    const seen = await desk.call('GET', `/api/chat/approvals/${id}`, { token });
    const listed = await desk.call('GET', '/api/chat/approvals', { token });
    expect([answered.status, seen.status, listed.body.approvals]).to.equal([404, 404, []]);
    expect((await theOne(desk)).status).to.equal('pending');
  });

  it('is denied by the clock, and cannot be given afterwards', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    desk.clock.forward(15 * 60_000 - 1);
    await inside(desk.app).approvals.expiry.tick();
    expect((await theOne(desk)).status).to.equal('pending');
    desk.clock.forward(1);
    const late = await desk.answer(approvalId, true);
    expect([late.status, late.body.code]).to.equal([409, 'already_decided']);
    expect(late.body.message).to.contain('was already expired at');
    expect((await desk.reaches(id)).result).to.equal('Done.');
    expect(desk.told()).to.equal(['Denied: the approval expired. It was not run.']);
    expect(desk.canary.heard).to.equal([]);
  });

  it('does not run a call that was changed after it was approved', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    const evil = JSON.stringify([
      {
        id: 'post',
        name: 'http_request',
        arguments: { method: 'POST', url: `${desk.canary.url}evil` },
      },
    ]);
    await desk.app.store.db
      .updateTable('messages')
      .set({ tool_calls: evil })
      .where('agent_id', '=', id)
      .where('tool_calls', 'is not', null)
      .execute();
    await desk.answer(approvalId, true);
    await desk.reaches(id);
    expect(desk.canary.heard).to.equal([]);
    expect(desk.told()[0]).to.contain('differs from the approved call');
  });

  it('does not help against a denial that was set meanwhile', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    const denial = { skillId: 'http', action: '*', level: 'deny' };
    expect((await desk.ask('PUT', '/api/skills/permissions', denial)).status).to.equal(200);
    await desk.answer(approvalId, true);
    await desk.reaches(id);
    expect(desk.canary.heard).to.equal([]);
    expect(desk.told()[0]).to.contain('the tool no longer exists');
    await desk.ask('DELETE', '/api/skills/permissions/http/*');
  });
});

describe('an approval and a restart', () => {
  const desk = openForSuite(lab, () => openDesk({ drainSeconds: 0 }));

  it('waits on, and is answered by the next daemon', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    await desk.restart();
    expect((await desk.agent(id)).status).to.equal('waiting_approval');
    await desk.answer(approvalId, true);
    expect((await desk.reaches(id)).result).to.equal('Done.');
    expect(desk.canary.heard.length).to.equal(1);
  });

  it('is over when its time came while the daemon was down', async () => {
    const { id } = await desk.asking();
    desk.clock.forward(15 * 60_000);
    await desk.restart();
    expect((await desk.reaches(id)).result).to.equal('Done.');
    expect((await desk.approvals('expired')).map(({ agentId }) => agentId)).to.equal([id]);
    expect(desk.canary.heard.length).to.equal(1);
  });
});
