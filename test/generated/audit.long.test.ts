import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Auditing, audited, openAuditing, REFUSALS } from './audited.js';
import { recordStatements, unexpectedScans } from './plans.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('every audited endpoint', () => {
  let recording: ReturnType<typeof recordStatements>;
  let auditing: Auditing;

  before(async () => {
    recording = recordStatements();
    auditing = await openAuditing();
  });
  after(() => auditing.stop());

  for (const route of audited) {
    const { endpoint, name } = route;
    it(`leaves one entry: ${name}`, async () => {
      const { status, rows, text } = await auditing.left(route, await auditing.trialOf(route));
      expect([status >= 200 && status < 300, rows], text).to.equal([
        true,
        [`${endpoint.audit} ok`],
      ]);
    });

    for (const [how, raised] of Object.entries(endpoint.auditMayFail ? {} : REFUSALS)) {
      it(`does not happen where its entry is ${how}: ${name}`, async () => {
        const trial = await auditing.trialOf(route);
        const ask = () => auditing.ask(route, trial);
        const [{ status, body }, changed] = await auditing.changedWithoutLog(raised, ask);
        expect([status, body?.code, changed]).to.equal([503, 'storage_unavailable', []]);
      });
    }
  }

  it('reads no whole table that grows', () => {
    const found = recording.stop();
    expect(found.size).to.be.above(200);
    expect(unexpectedScans(found)).to.equal([]);
  });
});
