import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  ApprovalNotFound,
  ApprovalNotPending,
  DigestMismatch,
} from '../../src/approvals/approval.js';
import type { DirectCall, DirectCallVerdict } from '../../src/approvals/directcall.js';
import { inside } from '../harness/inside.js';
import { openForSuite } from '../harness/suite.js';
import { openDesk } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a direct call', () => {
  const desk = openForSuite(lab, openDesk);

  const admit = async (more: Partial<DirectCall> = {}): Promise<DirectCallVerdict> => {
    const { toolbox, approvals } = inside(desk.app);
    const tool = toolbox.of('user_1').find('http', 'request');
    if (!tool) throw new Error('No tool');
    const args = { method: 'POST', url: desk.canary.url };
    return approvals.admit({ userId: desk.userId, tool, arguments: args, ...more });
  };
  const asked = async (): Promise<string> => {
    const admission = await admit();
    if (admission.verdict !== 'ask') throw new Error(admission.verdict);
    return admission.approval.id;
  };

  it('runs where it changes nothing, and is asked for where it has effects', async () => {
    const get = { method: 'GET', url: desk.canary.url };
    expect(await admit({ arguments: get })).to.equal({ verdict: 'run' });
    const approvalId = await asked();
    const [pending] = await desk.approvals('pending');
    expect(pending).to.include({ id: approvalId, agentId: null, untrusted: false, tool: 'http' });
  });

  it('runs once with its approval, however many come at once', async () => {
    const approvalId = await asked();
    await expect(admit({ approvalId })).to.reject(ApprovalNotPending, 'The approval is pending');
    await desk.answer(approvalId, true);
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => admit({ approvalId })));
    expect(all.filter(({ status }) => status === 'fulfilled').length).to.equal(1);
    await expect(admit({ approvalId })).to.reject(
      ApprovalNotPending,
      'The approval was already used',
    );
  });

  it('runs with no other arguments, with nobody else’s approval, and not for ever', async () => {
    const approvalId = await asked();
    await desk.answer(approvalId, true);
    const other = { method: 'POST', url: `${desk.canary.url}other` };
    await expect(admit({ approvalId, arguments: other })).to.reject(DigestMismatch);
    const { id: userId } = await desk.register('stranger');
    await expect(admit({ approvalId, userId })).to.reject(ApprovalNotFound);
    desk.clock.forward(15 * 60_000);
    await expect(admit({ approvalId })).to.reject(ApprovalNotPending);
  });

  it('does not run when it was denied, or its tool is denied', async () => {
    const approvalId = await asked();
    await desk.answer(approvalId, false);
    await expect(admit({ approvalId })).to.reject(ApprovalNotPending, 'The approval is denied');
    const given = await asked();
    await desk.answer(given, true);
    const denial = { skillId: 'http', action: 'request', level: 'deny' };
    await desk.ask('PUT', '/api/skills/permissions', denial);
    expect((await admit({ approvalId: given })).verdict).to.equal('deny');
    await desk.ask('DELETE', '/api/skills/permissions/http/request');
  });

  it('is not used for an agent’s call, nor the other way round', async () => {
    await desk.asking();
    const [one] = await desk.approvals('pending');
    await desk.answer(one?.id ?? '', true);
    await expect(admit({ approvalId: one?.id })).to.reject(ApprovalNotFound);
  });

  it('is refused with arguments that nobody could read to their end', async () => {
    const args = { method: 'POST', url: desk.canary.url, body: 'x'.repeat(300_000) };
    const because = 'its arguments are too long to be reviewed for approval';
    expect(await admit({ arguments: args })).to.equal({ verdict: 'deny', because });
  });
});
